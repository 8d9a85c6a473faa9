import type { IWebhookFunctions } from 'n8n-workflow';
import { memoryKey } from './incomingCall';

const AGAIN_MS = 60 * 60 * 1000;
const MAX_REMEMBERED = 1000;

/** When each trigger and event was warned of last. */
const warned = new Map<string, number>();

/**
 * Says in n8n's log, once an hour for each trigger and event, that its secret was rotated at the
 * service: what it has is accepted for 24 hours after the rotation, and publishing gets the new
 * one.
 */
export function warnOfReplacedSecret(context: IWebhookFunctions, event: string): void {
	const key = memoryKey(context, event);
	const now = Date.now();
	if (now - (warned.get(key) ?? -Infinity) < AGAIN_MS) return;
	if (warned.size >= MAX_REMEMBERED) warned.clear();
	warned.set(key, now);
	const { id, name } = context.getWorkflow();
	context.logger.warn(
		`The secret of ${event} was rotated at Conversation Service, and this workflow still has the replaced one. Publish the workflow again before 24 hours have passed since the rotation: unpublish it, then publish it. Its events are refused after that.`,
		{ workflowId: id, workflowName: name, nodeName: context.getNode().name },
	);
}
