import type { IDataObject, IHookFunctions, JsonObject } from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';
import { errorCode, errorParam } from './errors';
import type { ToolDefinition } from './toolDefinition';
import { requestList, requestService } from './transport';
import type { ToolRecord, ToolWithSecret } from './types';

/** What the workflow's static data keeps of the tool. */
export interface StoredTool {
	toolId?: string;
	secret?: string;
	/** It is the draft of an editor that listens. n8n does not say so when it calls `delete`. */
	isDraft?: boolean;
}

export const readStoredTool = (staticData: IDataObject): StoredTool => staticData as StoredTool;

/** @returns null when it does not exist, or not in this workspace */
export async function findTool(context: IHookFunctions, id: string): Promise<ToolRecord | null> {
	try {
		return await requestService<ToolRecord>(context, { method: 'GET', path: toolPath(id) });
	} catch (error) {
		if (errorCode(error) === 'not_found') return null;
		throw new NodeApiError(context.getNode(), error as JsonObject);
	}
}

export async function findToolByName(
	context: IHookFunctions,
	name: string,
): Promise<ToolRecord | null> {
	const [tool] = await requestList<ToolRecord>(context, { path: '/api/tools', query: { name } });
	return tool ?? null;
}

export const registerTool = async (
	context: IHookFunctions,
	definition: ToolDefinition,
): Promise<ToolWithSecret> =>
	await requestService(context, {
		method: 'POST',
		path: '/api/tools',
		body: { ...definition, kind: 'Webhook' },
	});

/** What does not exist any more is fine. */
export async function removeTool(context: IHookFunctions, id: string): Promise<void> {
	try {
		await requestService(context, { method: 'DELETE', path: toolPath(id) });
	} catch (error) {
		if (errorCode(error) !== 'not_found')
			throw new NodeApiError(context.getNode(), error as JsonObject);
	}
}

export const toolPath = (id: string): string => `/api/tools/${encodeURIComponent(id)}`;

/** Adds what to do about arguments of a test call that do not fit the parameters. */
export function explainSample(error: NodeApiError): NodeApiError {
	if (errorCode(error) === 'invalid_request' && errorParam(error) === 'arguments') {
		error.description =
			'Enter "Sample Arguments" that fit the parameters: the service makes a test call with them before the agent can use the tool.';
	}
	return error;
}
