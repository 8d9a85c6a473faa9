import type { IDataObject, IHookFunctions, JsonObject } from 'n8n-workflow';
import { NodeApiError, NodeOperationError, sleep } from 'n8n-workflow';
import { parseUrl } from './baseUrl';
import {
	explainSample,
	findToolByName,
	readStoredTool,
	registerTool,
	removeTool,
	toolPath,
} from './toolApi';
import {
	getAddress,
	readDefinition,
	readName,
	readSample,
	testDefinition,
	testName,
} from './toolDefinition';
import { STORED_AFTER_MS } from './toolFollowUp';
import { requestService, TEST_CALL_TIMEOUT_MS } from './transport';
import type { ToolCallRecord, ToolRecord } from './types';

const MAX_ASKS = 5;

/**
 * Registers a draft for as long as an editor listens, `<tool name>_test`, which never goes live;
 * the published tool is not touched. What an earlier listening left behind is removed.
 * @returns what has the service call this draft, to be started once this has returned; null when
 * the option for it is off
 */
export async function listenWithDraft(
	context: IHookFunctions,
): Promise<(() => Promise<void>) | null> {
	const published = readDefinition(context);
	const definition = testDefinition(published);
	const sample = readSample(context, published);
	const isCallWanted = context.getNodeParameter('options.sendTestCall', true) as boolean;
	await removeLeftOver(context, definition.name);
	const { id, secret } = await registerTool(context, definition);
	Object.assign(context.getWorkflowStaticData('node'), { toolId: id, secret, isDraft: true });
	return isCallWanted ? async () => await sendTestCallSoon(context, id, sample) : null;
}

/**
 * Removes the draft of this listening. Never throws, tolerates what is gone. @returns whether it is
 * gone
 */
export async function removeDraft(context: IHookFunctions): Promise<boolean> {
	const staticData = context.getWorkflowStaticData('node');
	const { toolId } = readStoredTool(staticData);
	for (const key of Object.keys(staticData)) delete staticData[key];
	try {
		const id = toolId ?? (await findDraftHere(context))?.id;
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

/** For when the id was lost. */
async function findDraftHere(context: IHookFunctions): Promise<ToolRecord | null> {
	const tool = await findToolByName(context, testName(readName(context)));
	return tool?.endpoint === getAddress(context) ? tool : null;
}

/** A tool at a test address of this n8n, /webhook-test/…; the host can change with its settings. */
function isOfListening(context: IHookFunctions, { endpoint }: ToolRecord): boolean {
	const folder = (url: string) => parseUrl(url)?.pathname.split('/').slice(0, -2).join('/');
	return endpoint !== null && folder(endpoint) === folder(getAddress(context));
}

/** Asks again while n8n does not know the secret yet: then the trigger answers 503. */
async function sendTestCallSoon(
	context: IHookFunctions,
	toolId: string,
	sample: IDataObject,
): Promise<void> {
	try {
		for (let asked = 0; asked < MAX_ASKS; asked++) {
			await sleep(STORED_AFTER_MS);
			const call: ToolCallRecord = await requestService(context, {
				method: 'POST',
				path: `${toolPath(toolId)}/test`,
				body: { arguments: sample },
				timeoutMs: TEST_CALL_TIMEOUT_MS,
			});
			if (call.http_status !== 503) return;
		}
	} catch (error) {
		// Listening may have been stopped meanwhile; a call by Tool → Test still arrives.
		const { message, description } = explainSample(
			new NodeApiError(context.getNode(), error as JsonObject),
		);
		context.logger.warn('No test call was made', { error: message, fix: description });
	}
}
