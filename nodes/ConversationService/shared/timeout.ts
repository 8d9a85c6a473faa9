import type { IHookFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

/**
 * Reads the seconds in the field "Timeout".
 * @throws NodeOperationError when they are not within the limits
 */
export function readTimeoutSeconds(
	context: IHookFunctions,
	{ min, max }: { min: number; max: number },
): number {
	const seconds = Number(context.getNodeParameter('timeout'));
	if (seconds >= min && seconds <= max) return seconds;
	throw new NodeOperationError(
		context.getNode(),
		`The timeout is not from ${min} to ${max} seconds`,
		{ description: 'Enter in "Timeout" how many seconds the workflow has for an answer.' },
	);
}
