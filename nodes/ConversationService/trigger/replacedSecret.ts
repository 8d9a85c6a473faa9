import type { IWebhookFunctions } from 'n8n-workflow';
import { memoryKey } from '../shared/incomingCall';

const WARN_AGAIN_MS = 60 * 60 * 1000;
const MAX_REMEMBERED = 1000;

/** When the last warning was, for each trigger. */
const warnedAt = new Map<string, number>();

/**
 * Warns in n8n's log that the service has rotated a secret, once an hour for each trigger.
 * The replaced secret works for 24 hours after the rotation. Publishing again gets the new one.
 */
export function warnOfReplacedSecret(context: IWebhookFunctions): void {
	const key = memoryKey(context, 'replaced secret');
	const now = Date.now();
	if (now - (warnedAt.get(key) ?? -Infinity) < WARN_AGAIN_MS) return;
	if (warnedAt.size >= MAX_REMEMBERED) warnedAt.clear();
	warnedAt.set(key, now);
	const { id, name } = context.getWorkflow();
	context.logger.warn(
		'The secret of this subscription was rotated at Conversation Service, and this workflow still has the replaced one. Unpublish the workflow and publish it again within 24 hours of the rotation. After that, its events are refused.',
		{ workflowId: id, workflowName: name, nodeName: context.getNode().name },
	);
}
