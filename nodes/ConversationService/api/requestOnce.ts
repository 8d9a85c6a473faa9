import type { IExecuteFunctions } from 'n8n-workflow';
import { idempotencyKey } from './idempotencyKey';
import type { ServiceRequest } from './transport';
import { requestService } from './transport';

/**
 * Makes a write for an item. "Retry On Fail" repeats it after a lost answer; it then gets the answer
 * to the first request, and nothing is done twice. What the service refused is tried again.
 * @throws as `requestService`
 */
export async function requestOnce<T>(
	context: IExecuteFunctions,
	request: ServiceRequest & { itemIndex: number },
): Promise<T> {
	const { itemIndex, path, body } = request;
	const key = idempotencyKey(context, itemIndex, JSON.stringify([path, body]));
	return await requestService<T>(context, { ...request, headers: { 'Idempotency-Key': key } });
}
