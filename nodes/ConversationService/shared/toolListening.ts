import type { IDataObject, IHookFunctions, JsonObject } from 'n8n-workflow';
import { NodeApiError, NodeOperationError, sleep } from 'n8n-workflow';
import { parseUrl } from './baseUrl';
import { errorCode } from './errors';
import { readStoredTool } from './storedTool';
import {
	explainSample,
	getAddress,
	readDefinition,
	readName,
	readSample,
	testDefinition,
	testName,
} from './toolDefinition';
import { requestList, requestService, TEST_CALL_TIMEOUT_MS } from './transport';
import type { ToolRecord, ToolWithSecret } from './types';

/** Time for n8n to store what `create` leaves in the static data. */
const STORED_AFTER_MS = 1500;

/**
 * Registers a draft for as long as an editor listens, `<tool name>_test`, and has the service call
 * it. The published tool is not touched. What an earlier listening left behind is removed.
 */
export async function listenWithDraft(context: IHookFunctions): Promise<void> {
	const published = readDefinition(context);
	const sample = readSample(context, published.parameters);
	const definition = testDefinition(published);
	await removeLeftOver(context, definition.name);
	const { id, secret }: ToolWithSecret = await requestService(context, {
		method: 'POST',
		path: '/api/tools',
		body: { ...definition, kind: 'Webhook' },
	});
	Object.assign(readStoredTool(context), { draftId: id, secret });
	// Not awaited: the call can be verified only after `create` has returned.
	if (context.getNodeParameter('options.sendTestCall', true))
		void sendTestCallSoon(context, id, sample);
}

/**
 * Removes the draft of this listening. Never throws, and tolerates a missing one.
 * @returns whether it is gone
 */
export async function removeDraft(context: IHookFunctions): Promise<boolean> {
	const stored = readStoredTool(context);
	const { draftId } = stored;
	delete stored.draftId;
	delete stored.secret;
	try {
		const id = draftId ?? (await findDraftHere(context))?.id;
		if (id) await removeTool(context, id);
		return true;
	} catch (error) {
		context.logger.warn('Could not remove the draft of a tool at Conversation Service', {
			error: (error as Error).message,
		});
		return false;
	}
}

/** @throws NodeOperationError when a tool has this name that no listening has made */
async function removeLeftOver(context: IHookFunctions, name: string): Promise<void> {
	const tool = await findToolByName(context, name);
	if (!tool) return;
	if (isOfListening(context, tool)) return await removeTool(context, tool.id);
	throw new NodeOperationError(
		context.getNode(),
		`A test would use the name "${name}", which belongs to another tool`,
		{
			description:
				'While you listen for a test event, the tool is registered under its name with "_test" at the end. Enter another "Tool Name", or rename that tool at Conversation Service.',
		},
	);
}

/** For when the static data was lost. */
async function findDraftHere(context: IHookFunctions): Promise<ToolRecord | null> {
	const tool = await findToolByName(context, testName(readName(context)));
	return tool && pathOf(tool.endpoint) === pathOf(getAddress(context)) ? tool : null;
}

async function findToolByName(context: IHookFunctions, name: string): Promise<ToolRecord | null> {
	const [tool] = await requestList<ToolRecord>(context, { path: '/api/tools', query: { name } });
	return tool ?? null;
}

/** The address that n8n listens at begins with /webhook-test/; its host can change. */
function isOfListening(context: IHookFunctions, { endpoint }: ToolRecord): boolean {
	const folder = (url: string | null) => pathOf(url)?.split('/').slice(0, -2).join('/');
	return endpoint !== null && folder(endpoint) === folder(getAddress(context));
}

const pathOf = (url: string | null): string | undefined => parseUrl(url ?? '')?.pathname;

async function removeTool(context: IHookFunctions, id: string): Promise<void> {
	try {
		await requestService(context, {
			method: 'DELETE',
			path: `/api/tools/${encodeURIComponent(id)}`,
		});
	} catch (error) {
		if (errorCode(error) !== 'not_found')
			throw new NodeApiError(context.getNode(), error as JsonObject);
	}
}

async function sendTestCallSoon(
	context: IHookFunctions,
	id: string,
	sample: IDataObject,
): Promise<void> {
	await sleep(STORED_AFTER_MS);
	try {
		await requestService(context, {
			method: 'POST',
			path: `/api/tools/${encodeURIComponent(id)}/test`,
			body: { arguments: sample },
			timeoutMs: TEST_CALL_TIMEOUT_MS,
		});
	} catch (error) {
		// The user may have stopped listening since; a call by Tool → Test still arrives.
		const { message, description } = explainSample(
			new NodeApiError(context.getNode(), error as JsonObject),
		);
		context.logger.warn('No test call was made', { error: message, fix: description });
	}
}
