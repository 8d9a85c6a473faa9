import type {
	ICredentialDataDecryptedObject,
	IDataObject,
	IHttpRequestMethods,
	IHttpRequestOptions,
	JsonObject,
} from 'n8n-workflow';
import { NodeApiError, NodeOperationError, sleep } from 'n8n-workflow';
import { checkBaseUrl } from './baseUrl';
import type { ServiceResponse } from './errors';
import { describeConnectionFailure, errorCode, notTheServiceError, serviceError } from './errors';
import type { Page, ServiceContext } from './types';
import { CREDENTIAL } from './types';

const TIMEOUT_MS = 30_000;
/**
 * The service answers a test call once the tool has answered: after at most three attempts of
 * 120 seconds, and the pauses between them.
 */
export const TEST_CALL_TIMEOUT_MS = 420_000;
const MAX_WAIT_SECONDS = 60;
const MAX_PAGE_SIZE = 200;

export interface ServiceRequest {
	method: IHttpRequestMethods;
	path: string;
	query?: IDataObject;
	body?: IDataObject;
	headers?: Record<string, string>;
	/** The item that the request is for, named in errors. */
	itemIndex?: number;
	/** How long to wait in all when the service asks for it (429); 60 seconds by default and at most. */
	maxWaitSeconds?: number;
	/** How long to wait for the answer; 30 seconds by default. */
	timeoutMs?: number;
}

/**
 * Calls the service and returns the JSON of its answer. All calls but the credential's test go
 * through here.
 * @throws NodeApiError with the service's own message and a fix in its description
 * @throws NodeOperationError when the base URL is not valid or would send the key in the clear
 */
export async function requestService<T>(context: ServiceContext, request: ServiceRequest) {
	const credential = await getCredential(context, request.itemIndex);
	const maxWaitSeconds = Math.min(request.maxWaitSeconds ?? MAX_WAIT_SECONDS, MAX_WAIT_SECONDS);
	let waitedSeconds = 0;
	for (;;) {
		const response = await send(context, credential, request);
		const waitSeconds = retryAfterSeconds(response);
		const mayWait = waitedSeconds + waitSeconds <= maxWaitSeconds;
		if (response.statusCode !== 429 || !mayWait || !(await pause(context, waitSeconds))) {
			return readAnswer<T>(context, response, request.itemIndex);
		}
		waitedSeconds += waitSeconds;
	}
}

/** Deletes something. What is gone already is no error. */
export async function requestDeletion(
	context: ServiceContext,
	request: Pick<ServiceRequest, 'path' | 'query'>,
): Promise<void> {
	try {
		await requestService(context, { ...request, method: 'DELETE' });
	} catch (error) {
		if (errorCode(error) === 'not_found') return;
		throw new NodeApiError(context.getNode(), error as JsonObject);
	}
}

export interface ListRequest extends Omit<ServiceRequest, 'method' | 'body'> {
	/** The most items; all of them by default. */
	limit?: number;
}

/** Reads a list page by page: all of it, or the first `limit` items. */
export async function requestList<T>(context: ServiceContext, request: ListRequest): Promise<T[]> {
	const items: T[] = [];
	for await (const item of readList<T>(context, request)) items.push(item);
	return items;
}

/** Like `requestList`, but yields each item as its page arrives, and asks for pages when needed. */
export async function* readList<T>(
	context: ServiceContext,
	{ limit = Infinity, ...request }: ListRequest,
): AsyncGenerator<T, void, undefined> {
	let left = limit;
	let cursor: string | null = null;
	do {
		const page: Page<T> = await requestService(context, {
			...request,
			method: 'GET',
			query: {
				...request.query,
				limit: Math.min(MAX_PAGE_SIZE, left),
				...(cursor ? { cursor } : {}),
			},
		});
		if (!Array.isArray(page.data)) {
			const answer = { statusCode: 200, headers: {}, body: page };
			throw notTheServiceError(context.getNode(), answer, request.itemIndex);
		}
		yield* page.data.slice(0, left);
		left -= page.data.length;
		// A cursor that does not move would make an endless loop.
		cursor = page.next_cursor === cursor ? null : page.next_cursor;
	} while (cursor && left > 0);
}

/** The address of the service, from the credential. */
export const getBaseUrl = async (context: ServiceContext): Promise<string> =>
	(await getCredential(context)).baseUrl;

interface Credential {
	baseUrl: string;
	data: ICredentialDataDecryptedObject;
}

async function getCredential(context: ServiceContext, itemIndex?: number): Promise<Credential> {
	const data = await context.getCredentials(CREDENTIAL, itemIndex);
	const checked = checkBaseUrl(data.baseUrl);
	if ('baseUrl' in checked) return { baseUrl: checked.baseUrl, data };
	throw new NodeOperationError(context.getNode(), checked.problem, {
		description: checked.fix,
		itemIndex,
	});
}

async function send(
	context: ServiceContext,
	{ baseUrl, data }: Credential,
	{ method, path, query, body, headers, itemIndex, timeoutMs }: ServiceRequest,
): Promise<ServiceResponse> {
	const options: IHttpRequestOptions = {
		method,
		url: `${baseUrl}${path}`,
		qs: query,
		body,
		headers,
		json: true,
		timeout: timeoutMs ?? TIMEOUT_MS,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		// The API never redirects, and a redirect could send the key elsewhere.
		disableFollowRedirect: true,
	};
	try {
		return await context.helpers.httpRequestWithAuthentication.call(context, CREDENTIAL, options, {
			// Otherwise n8n reads the credential again, with the expressions of the first item.
			credentialsDecrypted: { id: '', name: '', type: CREDENTIAL, data },
		});
	} catch (error) {
		const failure = new NodeApiError(context.getNode(), error as JsonObject, { itemIndex });
		failure.description = describeConnectionFailure(connectionCode(error), baseUrl);
		throw failure;
	}
}

function readAnswer<T>(context: ServiceContext, response: ServiceResponse, itemIndex?: number): T {
	const { statusCode, body } = response;
	const isSuccess = statusCode >= 200 && statusCode < 300;
	if (isSuccess && typeof body === 'object' && body !== null) return body as T;
	throw isSuccess
		? notTheServiceError(context.getNode(), response, itemIndex)
		: serviceError(context.getNode(), response, itemIndex);
}

/** At least a second, so that an answer of 0 does not cause a tight loop. */
function retryAfterSeconds({ headers }: ServiceResponse): number {
	const text = String(headers['retry-after'] ?? '');
	const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
	return Math.max(1, Math.ceil(Number.isFinite(seconds) ? seconds : 1));
}

/** Waits. @returns false as soon as the execution is cancelled; then nothing more is to be sent */
async function pause(context: ServiceContext, seconds: number): Promise<boolean> {
	const signal =
		'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined;
	for (let left = seconds; left > 0 && !signal?.aborted; left--) await sleep(1000);
	return !signal?.aborted;
}

function connectionCode(error: unknown): string | undefined {
	const { code, cause } = error as { code?: unknown; cause?: unknown };
	if (typeof code === 'string') return code;
	return cause ? connectionCode(cause) : undefined;
}
