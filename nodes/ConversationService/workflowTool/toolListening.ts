import type { IDataObject, IHookFunctions, NodeApiError } from 'n8n-workflow';
import { NodeOperationError, sleep } from 'n8n-workflow';
import { parseUrl } from '../api/baseUrl';
import {
	requestDeletion,
	requestList,
	requestService,
	TEST_CALL_TIMEOUT_MS,
} from '../api/transport';
import type { ToolRecord, ToolWithSecret } from '../api/types';
import { getAddress } from '../shared/owner';
import { STORED_AFTER_MS, tryTo } from '../shared/publication';
import { readStoredTool } from './storedTool';
import {
	explainSampleError,
	readDefinition,
	readName,
	readSample,
	testDefinition,
	testName,
} from './toolDefinition';

/**
 * Registers a draft named `<tool name>_test` while the user executes the step, and has the service
 * call it. Removes a draft that an earlier test has left. The published tool does not change.
 */
export async function listenWithDraft(context: IHookFunctions): Promise<void> {
	const published = readDefinition(context);
	const sample = readSample(context, published.parameters);
	const definition = testDefinition(published);
	await removeOldDraft(context, definition.name);
	const { id, secret }: ToolWithSecret = await requestService(context, {
		method: 'POST',
		path: '/api/tools',
		body: { ...definition, kind: 'Webhook' },
	});
	Object.assign(readStoredTool(context), { draftId: id, secret });
	// Not awaited: n8n stores the secret, which verifies the call, only after this hook has returned.
	if (context.getNodeParameter('options.sendTestCall', true))
		void sendTestCallSoon(context, id, sample);
}

/**
 * Removes the draft of this test. Never throws; a missing draft is no error.
 * @returns whether the draft is gone
 */
export async function removeDraft(context: IHookFunctions): Promise<boolean> {
	const stored = readStoredTool(context);
	const { draftId } = stored;
	delete stored.draftId;
	delete stored.secret;
	return await tryTo(context, 'remove the draft of a tool', async () => {
		const id = draftId ?? (await findDraftHere(context))?.id;
		if (id) await removeTool(context, id);
	});
}

/** @throws NodeOperationError when the name belongs to a tool that is not the draft of a test */
async function removeOldDraft(context: IHookFunctions, name: string): Promise<void> {
	const tool = await findToolByName(context, name);
	if (!tool) return;
	if (isTestDraft(context, tool)) return await removeTool(context, tool.id);
	throw new NodeOperationError(
		context.getNode(),
		`A test would use the name "${name}", which belongs to another tool`,
		{
			description:
				'While you try the workflow, the tool is registered under its name with "_test" at the end. Enter another "Tool Name", or rename that tool at Conversation Service.',
		},
	);
}

/** Finds the draft without its ID, after the static data was lost. */
async function findDraftHere(context: IHookFunctions): Promise<ToolRecord | null> {
	const tool = await findToolByName(context, testName(readName(context)));
	return tool && pathnameOf(tool.endpoint) === pathnameOf(getAddress(context)) ? tool : null;
}

async function findToolByName(context: IHookFunctions, name: string): Promise<ToolRecord | null> {
	const [tool] = await requestList<ToolRecord>(context, { path: '/api/tools', query: { name } });
	return tool ?? null;
}

/** Whether the tool is the draft of a test: its path is under n8n's /webhook-test/. Its host may differ. */
function isTestDraft(context: IHookFunctions, { endpoint }: ToolRecord): boolean {
	// While the user tests, this trigger's address ends in /webhook-test/<webhook id>/tool.
	const folderOf = (url: string | null) => pathnameOf(url)?.split('/').slice(0, -2).join('/');
	return endpoint !== null && folderOf(endpoint) === folderOf(getAddress(context));
}

const pathnameOf = (url: string | null): string | undefined => parseUrl(url ?? '')?.pathname;

const removeTool = async (context: IHookFunctions, id: string): Promise<void> =>
	await requestDeletion(context, { path: `/api/tools/${encodeURIComponent(id)}` });

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
		// Only a warning: the user may have stopped listening, or can make the call with Tool → Test.
		const { message, description } = explainSampleError(error as NodeApiError);
		context.logger.warn('No test call was made', { error: message, fix: description });
	}
}
