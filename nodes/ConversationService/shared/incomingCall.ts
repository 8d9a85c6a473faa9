import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { isJsonObject, parseJson } from './jsonFields';
import type { SignatureProblem } from './signature';
import { checkSignature } from './signature';

const DEFAULT_TOLERANCE_SECONDS = 300;

const REASONS: Record<SignatureProblem, string> = {
	malformed:
		'The X-Service-Signature header is missing or does not have the form t=<unix>,v1=<hex>.',
	mismatch: 'The signature does not match the body and the secret that this trigger knows.',
	too_old: 'The signature is older than the tolerance. Check the clocks of both machines.',
	too_new: 'The signature is from the future. Check the clocks of both machines.',
};

/**
 * Verifies a call of the service over its raw bytes and reads its JSON.
 * @returns the body (an empty object when it is not a JSON object), whether the service has replaced the
 * secret, and the time of the signature; or why the call is refused
 */
export async function verifyCall<T extends IDataObject>(
	context: IWebhookFunctions,
	secret: string,
): Promise<
	{ body: Partial<T>; isSecretReplaced: boolean; signedAt: number } | { refusal: string }
> {
	const bytes = await readRawBody(context);
	const check = checkSignature({
		header: getHeader(context, 'x-service-signature'),
		body: bytes,
		secret,
		toleranceSeconds: getToleranceSeconds(context),
		nowSeconds: Date.now() / 1000,
	});
	if ('problem' in check) return { refusal: REASONS[check.problem] };
	return { ...check, body: parseObject<T>(bytes) };
}

/** Answers a call that starts nothing. A 503 asks the service to try again. */
export function answer(
	context: IWebhookFunctions,
	status: number,
	message: string,
): IWebhookResponseData {
	const response = context.getResponseObject();
	if (status === 503) response.setHeader('Retry-After', '2');
	response.status(status).json({ message });
	return { noWebhookResponse: true };
}

/** Identifies a call in this process, across all triggers. Test and production calls differ. */
export const memoryKey = (context: IWebhookFunctions, id: string): string =>
	[context.getMode(), context.getWorkflow().id, context.getNode().id, id].join();

export function getHeader(context: IWebhookFunctions, name: string): string | undefined {
	const header = context.getHeaderData()[name];
	return Array.isArray(header) ? header.join(',') : header;
}

/** Reads the bytes as received. Some versions of n8n set the Buffer only after `readRawBody`. */
async function readRawBody(context: IWebhookFunctions): Promise<Buffer> {
	const request = context.getRequestObject();
	if (!Buffer.isBuffer(request.rawBody)) await request.readRawBody?.();
	// Without the bytes, the signature does not match: the service never signs an empty body.
	return Buffer.isBuffer(request.rawBody) ? request.rawBody : Buffer.alloc(0);
}

/** Anything but a JSON object becomes an object without fields, which the trigger then refuses. */
function parseObject<T extends IDataObject>(bytes: Buffer): Partial<T> {
	const body = parseJson(bytes.toString('utf8'));
	return isJsonObject(body) ? (body as Partial<T>) : {};
}

function getToleranceSeconds(context: IWebhookFunctions): number {
	const seconds = Number(context.getNodeParameter('options.tolerance', DEFAULT_TOLERANCE_SECONDS));
	return seconds > 0 ? seconds : DEFAULT_TOLERANCE_SECONDS;
}
