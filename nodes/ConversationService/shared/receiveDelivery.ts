import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { jsonParse } from 'n8n-workflow';
import { DeliveryMemory } from './deliveryMemory';
import type { SignatureCheck } from './signature';
import { checkSignature } from './signature';
import { readStored } from './subscriptionLifecycle';

const DEFAULT_TOLERANCE_SECONDS = 300;

const memory = new DeliveryMemory();

interface Payload extends IDataObject {
	id: string;
	event: string;
	conversation?: IDataObject;
}

const REASONS: Record<Exclude<SignatureCheck, 'valid'>, string> = {
	malformed: 'The X-Service-Signature header is missing or has not the form t=<unix>,v1=<hex>.',
	mismatch: 'The signature does not fit the body and the secret of this subscription.',
	too_old: 'The signature is older than the tolerance. Check the clocks of both machines.',
	too_new: 'The signature lies in the future. Check the clocks of both machines.',
};

/**
 * Takes one delivery: chooses the secret, verifies, filters, recognises a repeat, emits.
 * Every refusal is answered here and starts nothing. A 5xx asks the service to try again.
 * @see specification sections 4, 5 and 6
 */
export async function receiveDelivery(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const headers = context.getHeaderData();
	const event = single(headers['x-service-event']);
	const secret = findSecret(context, event);
	if (secret === 'not_known_yet') {
		return answer(context, 503, 'The secret of this subscription is not known yet. Try again.');
	}
	if (secret === null) return answer(context, 401, 'X-Service-Event is not an event of this hook.');

	const body = await readRawBody(context);
	const check = checkSignature({
		header: single(headers['x-service-signature']),
		body,
		secret,
		toleranceSeconds: getToleranceSeconds(context),
		nowSeconds: Date.now() / 1000,
	});
	if (check !== 'valid') return answer(context, 401, REASONS[check]);

	const payload = parsePayload(body);
	const deliveryId = single(headers['x-service-delivery']);
	if (payload.event !== event) {
		return answer(context, 401, 'X-Service-Event does not equal the event of the body.');
	}
	if (!payload.id || payload.id !== (deliveryId ?? payload.id)) {
		return answer(context, 401, 'X-Service-Delivery does not equal the id of the body.');
	}
	if (!passesFilters(context, payload)) {
		return answer(context, 200, 'The filters of this trigger leave this event out.');
	}

	const key = [
		context.getMode(),
		context.getWorkflow().id,
		context.getNode().id,
		payload.id,
	].join();
	const state = single(headers['x-service-redelivery']) === 'manual' ? 'new' : memory.stateOf(key);
	if (state === 'done') return answer(context, 200, 'This delivery was taken before.');
	if (state === 'in_flight') {
		return answer(context, 503, 'This delivery is being taken at this moment. Try again.');
	}
	memory.follow(key, context.getResponseObject());
	return { workflowData: [[{ json: { ...payload, delivery_id: payload.id } }]] };
}

/**
 * The secret of the event's subscription; null when the trigger does not want this event.
 * n8n routes calls here before the secrets of a new activation are stored.
 */
function findSecret(
	context: IWebhookFunctions,
	event: string | undefined,
): string | 'not_known_yet' | null {
	const stored = readStored(context.getWorkflowStaticData('node'));
	const known = Object.entries(stored).find(([name]) => name === event);
	if (known) return known[1].secret;
	const wanted = [context.getNodeParameter('events', [])].flat() as string[];
	const isExpected = event !== undefined && wanted.includes(event);
	return isExpected || Object.keys(stored).length === 0 ? 'not_known_yet' : null;
}

/** The bytes as received: a Buffer on the request, or behind `readRawBody` in newer node versions. */
async function readRawBody(context: IWebhookFunctions): Promise<Buffer> {
	const request = context.getRequestObject();
	if (!Buffer.isBuffer(request.rawBody)) await request.readRawBody?.();
	// Without the bytes nothing can be verified: an empty body fits no signature of an event.
	return Buffer.isBuffer(request.rawBody) ? request.rawBody : Buffer.alloc(0);
}

/** A signed body is JSON; should it not be, it has no event and is refused as such. */
const parsePayload = (body: Buffer): Partial<Payload> =>
	jsonParse<Partial<Payload> | null>(body.toString('utf8'), { fallbackValue: null }) ?? {};

function getToleranceSeconds(context: IWebhookFunctions): number {
	const seconds = Number(context.getNodeParameter('options.tolerance', DEFAULT_TOLERANCE_SECONDS));
	return seconds > 0 ? seconds : DEFAULT_TOLERANCE_SECONDS;
}

/** The sample that a test asked for passes, whatever the filters: it is what the user waits for. */
function passesFilters(context: IWebhookFunctions, { conversation }: Partial<Payload>): boolean {
	if (context.getMode() === 'manual' && context.getNodeParameter('options.sendSample', false)) {
		return true;
	}
	const filters = context.getNodeParameter('filters', {}) as Record<string, string[] | undefined>;
	const passes = (allowed: string[] | undefined, value: unknown) =>
		!allowed?.length || allowed.includes(String(value));
	return (
		passes(filters.channels, conversation?.channel) &&
		passes(filters.statuses, conversation?.status) &&
		passes(filters.funnelStages, conversation?.funnel_stage)
	);
}

function answer(context: IWebhookFunctions, status: number, message: string): IWebhookResponseData {
	const response = context.getResponseObject();
	if (status === 503) response.setHeader('Retry-After', '2');
	response.status(status).json({ message });
	return { noWebhookResponse: true };
}

const single = (header: string | string[] | undefined): string | undefined =>
	Array.isArray(header) ? header.join(',') : header;
