import type { IDataObject } from 'n8n-workflow';

/**
 * A tool call as it goes on in a workflow: its arguments also as `args`, since n8n lets no
 * expression read a field of the name `arguments` ("Cannot access "arguments" due to security
 * concerns").
 */
export const withArgs = <T extends { arguments: IDataObject }>(
	call: T,
): T & { args: IDataObject } => ({
	...call,
	args: call.arguments,
});
