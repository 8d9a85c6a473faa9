import { createHash, randomUUID } from 'node:crypto';
import type { IExecuteFunctions } from 'n8n-workflow';
import { findText } from '../shared/text';

/**
 * Makes the Idempotency-Key of a request. For 24 hours, the service answers a repeated key with the
 * first answer, so that repeating the request does nothing twice.
 *
 * Without a deduplication key, the Idempotency-Key identifies one step: instance, workflow, node,
 * execution, run and item. It stays the same under "Retry On Fail", and differs for each round of a
 * loop. The option "Deduplication Key" of an operation replaces execution, run and item: with the
 * same deduplication key, this node acts once, even in several executions.
 * @param text what is sent; tells the calls of a tool apart
 * @throws NodeOperationError when the deduplication key is an object or a list
 */
export function idempotencyKey(
	context: IExecuteFunctions,
	itemIndex: number,
	text: string,
): string {
	const key = findText(context, 'options.deduplicationKey', itemIndex, 'The deduplication key');
	const step = key
		? ['deduplication key', key]
		: ['step', context.getExecutionId() ?? randomUUID(), run(context, itemIndex, text), itemIndex];
	const node = [context.getInstanceId(), context.getWorkflow().id, context.getNode().id];
	return createHash('sha256')
		.update(JSON.stringify([...node, ...step]))
		.digest('hex');
}

/** n8n counts each retry of an agent's tool as a new run, so the text tells its calls apart. */
const run = (context: IExecuteFunctions, itemIndex: number, text: string): string | number =>
	context.isToolExecution?.() ? text : context.getWorkflowDataProxy(itemIndex).$runIndex;
