import type { IDataObject } from 'n8n-workflow';

/**
 * Adds the arguments of a tool call as `args`, too. n8n does not let expressions read a
 * field named `arguments` ('Cannot access "arguments" due to security concerns').
 */
export const withArgs = <T extends { arguments: IDataObject }>(
	call: T,
): T & { args: IDataObject } => ({
	...call,
	args: call.arguments,
});
