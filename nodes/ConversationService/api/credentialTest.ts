import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
} from 'n8n-workflow';
import { checkBaseUrl } from './baseUrl';
import { describeConnectionFailure, MAKE_A_NEW_KEY } from './errors';

const TIMEOUT_MS = 10_000;

/** Tests the credential. Says whether the key or the address is wrong, and how to correct it. */
export async function testConnection(
	this: ICredentialTestFunctions,
	credential: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	const checked = checkBaseUrl(credential.data?.baseUrl);
	if (!('baseUrl' in checked)) return failed(`${checked.problem}. ${checked.fix}`);
	const apiKey = String(credential.data?.apiKey ?? '').trim();
	if (!apiKey) return failed('The API key is empty.');
	const { baseUrl } = checked;
	// The only request helper that n8n gives a credential test.
	const { request } = this.helpers;
	try {
		const { statusCode, body } = await request({
			method: 'GET',
			// Open to every key: one that is limited to other parts of the API is valid too.
			uri: `${baseUrl}/api/hooks/events`,
			headers: { Authorization: `Bearer ${apiKey}` },
			json: true,
			timeout: TIMEOUT_MS,
			followRedirect: false,
			simple: false,
			resolveWithFullResponse: true,
		});
		return resultOf(baseUrl, statusCode, body);
	} catch (error) {
		const { code, cause } = error as { code?: string; cause?: { code?: string } };
		return failed(describeConnectionFailure(code ?? cause?.code, baseUrl));
	}
}

function resultOf(baseUrl: string, statusCode: number, body: unknown): INodeCredentialTestResult {
	const { data, error } = (body ?? {}) as {
		data?: unknown;
		error?: { code?: string; message?: string };
	};
	if (statusCode === 200 && Array.isArray(data)) {
		return { status: 'OK', message: 'Connected to Conversation Service.' };
	}
	if (error?.code === 'unauthorized') {
		return failed(`The address is right, but the API key is not valid. ${MAKE_A_NEW_KEY}`);
	}
	if (error?.code && error.message) return failed(error.message);
	return failed(
		`${baseUrl} answers with status ${statusCode}, but not as Conversation Service. Check the base URL; it has no /api at the end.`,
	);
}

const failed = (message: string): INodeCredentialTestResult => ({ status: 'Error', message });
