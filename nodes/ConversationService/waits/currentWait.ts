import type { IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';

/** Stores the ID with the execution. A later wait in the same node replaces it. */
export function rememberWait(context: IExecuteFunctions, waitId: string): void {
	context.getContext('node').waitId = waitId;
}

/** Finds the ID of the wait that this execution rests for. */
export function findWaitId(context: IWebhookFunctions): string | null {
	// n8n ends an expression at the first "}}", also within a string.
	const name = JSON.stringify(context.getNode().name).replace(/}/g, '\\u007d');
	const waitId = context.evaluateExpression(`{{ $node[${name}].context.waitId }}`);
	return typeof waitId === 'string' && waitId ? waitId : null;
}
