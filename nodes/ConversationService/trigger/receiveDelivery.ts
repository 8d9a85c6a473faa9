import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { DeliveryMemory } from './deliveryMemory';
import { answer, memoryKey, single, verifyCall } from '../shared/incomingCall';
import { warnOfReplacedSecret } from './replacedSecret';
import { readStored } from './subscriptionLifecycle';

const memory = new DeliveryMemory();

interface Payload extends IDataObject {
	id: string;
	event: string;
	conversation?: IDataObject;
}

/**
 * Receives one delivery: finds the secret, verifies the signature, applies the filters, ignores a
 * repeat, and starts the workflow. A refused delivery starts nothing; a 5xx asks the service to try
 * again.
 */
export async function receiveDelivery(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const headers = context.getHeaderData();
	const event = single(headers['x-service-event']);
	const secret = findSecret(context, event);
	if (secret === 'not_known_yet') {
		return answer(context, 503, 'The secret of this subscription is not known yet. Try again.');
	}
	if (secret === null)
		return answer(context, 401, 'X-Service-Event is not an event that this trigger listens to.');

	const call = await verifyCall<Payload>(context, secret);
	if ('refusal' in call) return answer(context, 401, call.refusal);
	if (call.isSecretReplaced) warnOfReplacedSecret(context, event as string);
	const payload = call.body;
	const deliveryId = single(headers['x-service-delivery']);
	if (payload.event !== event) {
		return answer(context, 401, 'X-Service-Event does not match the event in the body.');
	}
	if (!payload.id || payload.id !== (deliveryId ?? payload.id)) {
		return answer(context, 401, 'X-Service-Delivery does not match the id in the body.');
	}
	if (!passesFilters(context, payload)) {
		return answer(context, 200, 'The filters of this trigger exclude this event.');
	}

	const key = memoryKey(context, payload.id);
	const attempt = {
		signedAt: call.signedAt,
		round: roundOf(single(headers['x-service-redelivery-round'])),
		isAskedFor: single(headers['x-service-redelivery']) === 'manual',
	};
	const state = memory.stateOf(key, attempt);
	if (state === 'done') return answer(context, 200, 'This delivery was already accepted.');
	if (state === 'in_flight') {
		return answer(context, 503, 'This delivery is being processed. Try again.');
	}
	memory.follow(key, context.getResponseObject(), attempt);
	return { workflowData: [[{ json: { ...payload, delivery_id: payload.id } }]] };
}

const roundOf = (header: string | undefined): number | null =>
	/^\d{1,9}$/.test(header ?? '') ? Number(header) : null;

/**
 * Finds the secret of the event's subscription. It may not be known yet: n8n passes calls on before it
 * has stored the secrets of a new activation.
 * @returns null when the trigger does not listen to this event
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

/** Applies the filters. A sample that the user asked for always passes, since they wait for it. */
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
