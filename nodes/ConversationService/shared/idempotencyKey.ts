import { createHash, randomUUID } from 'node:crypto';
import type { IExecuteFunctions } from 'n8n-workflow';

/**
 * The Idempotency-Key of a message. The service answers a repeated key with the first answer, for
 * 24 hours, so that a message is sent once although the request is made again.
 *
 * Without a deduplication key it names this very step: instance, workflow, node, execution, run
 * and item. It stays the same under "Retry On Fail" and differs with each turn of a loop.
 * With one, the key takes the place of execution, run and item: whichever execution asks, this
 * node sends once for that key.
 */
export function idempotencyKey(
	context: IExecuteFunctions,
	itemIndex: number,
	text: string,
	deduplicationKey: string,
): string {
	const step = deduplicationKey
		? ['deduplication key', deduplicationKey]
		: ['step', context.getExecutionId() ?? randomUUID(), run(context, itemIndex, text), itemIndex];
	const place = [context.getInstanceId(), context.getWorkflow().id, context.getNode().id];
	return createHash('sha256')
		.update(JSON.stringify([...place, ...step]))
		.digest('hex');
}

/**
 * n8n counts each retry of an agent's tool as a run of its own; there the text tells calls apart.
 */
const run = (context: IExecuteFunctions, itemIndex: number, text: string): string | number =>
	context.isToolExecution?.() ? text : context.getWorkflowDataProxy(itemIndex).$runIndex;
