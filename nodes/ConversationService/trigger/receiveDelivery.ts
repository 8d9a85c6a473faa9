import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { DeliveryMemory } from './deliveryMemory';
import { answer, getHeader, memoryKey, verifyCall } from '../shared/incomingCall';
import { warnOfReplacedSecret } from './replacedSecret';
import { readStored } from './subscriptionLifecycle';

const memory = new DeliveryMemory();

interface Payload extends IDataObject {
	id: string;
	event: string;
}

/**
 * Receives one delivery: verifies the signature, ignores a repeat, and starts the workflow. A refused
 * delivery starts nothing; a 503 asks the service to try again. The trigger's filters are not checked
 * here: the service applies them before it sends.
 */
export async function receiveDelivery(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const stored = readStored(context.getWorkflowStaticData('node'));
	// n8n passes calls on before it has stored the secret of a workflow that was just published.
	if (!stored) {
		return answer(context, 503, 'The secret of this subscription is not known yet. Try again.');
	}
	const call = await verifyCall<Payload>(context, stored.secret);
	if ('refusal' in call) return answer(context, 401, call.refusal);
	if (call.isSecretReplaced) warnOfReplacedSecret(context);
	const payload = call.body;
	if (!payload.event || payload.event !== getHeader(context, 'x-service-event')) {
		return answer(context, 401, 'X-Service-Event does not match the event in the body.');
	}
	const eventId = getHeader(context, 'x-service-delivery') ?? payload.id;
	if (!payload.id || payload.id !== eventId) {
		return answer(context, 401, 'X-Service-Delivery does not match the id in the body.');
	}

	const key = memoryKey(context, payload.id);
	const attempt = {
		signedAt: call.signedAt,
		round: roundOf(getHeader(context, 'x-service-redelivery-round')),
		isManual: getHeader(context, 'x-service-redelivery') === 'manual',
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
