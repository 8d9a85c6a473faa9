import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { CallMemory } from './callMemory';
import { answer, memoryKey, verifyCall } from './incomingCall';

/** The ID of a call and what the workflow gets, or why its body is refused. */
export type ReadCall = { id: string; output: IDataObject } | { problem: string };

interface Receiving {
	/** Undefined until n8n has stored the secret. */
	secret: string | undefined;
	readCall(body: IDataObject): ReadCall;
	/** The status with which the trigger answers at once; null when the workflow answers. */
	acceptedStatus: number | null;
}

/** One memory for all triggers: its keys name the trigger. */
const memory = new CallMemory();

/**
 * Receives a call of the service that expects an answer: verifies it, recognises a repeat, and starts
 * the workflow. The last node or an operation answers it. A refused call starts nothing: after a 503
 * the service tries again, after a 401 the call has failed (or is tried again, if the trigger is newly
 * published).
 */
export async function receiveCall(
	context: IWebhookFunctions,
	{ secret, readCall, acceptedStatus }: Receiving,
): Promise<IWebhookResponseData> {
	if (!secret)
		return answer(context, 503, 'The secret of this trigger is not known yet. Try again.');
	const verified = await verifyCall(context, secret);
	if ('refusal' in verified) return answer(context, 401, verified.refusal);
	const call = readCall(verified.body as IDataObject);
	if ('problem' in call) return answer(context, 401, call.problem);

	const response = context.getResponseObject();
	const key = memoryKey(context, call.id);
	if (memory.repeat(key, response)) return { noWebhookResponse: true };
	memory.follow(key, response);
	const workflowData = [[{ json: call.output }]];
	if (acceptedStatus === null) return { workflowData };
	// Answered here, since n8n's own answer would not be JSON.
	response.status(acceptedStatus).json({ status: 'accepted' });
	return { noWebhookResponse: true, workflowData };
}
