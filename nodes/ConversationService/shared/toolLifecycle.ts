import type { IDataObject, IHookFunctions, JsonObject } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import { parseUrl } from './baseUrl';
import { errorCode, existingId } from './errors';
import type { StoredTool } from './toolApi';
import {
	explainSample,
	findTool,
	findToolByName,
	readStoredTool,
	registerTool,
	removeTool,
	toolPath,
} from './toolApi';
import { followGoLive } from './toolFollowUp';
import type { ToolDefinition } from './toolDefinition';
import { getAddress, hasDefinition, readDefinition, readName, readSample } from './toolDefinition';
import { removeDraft } from './toolListening';
import { requestService } from './transport';
import type { ToolRecord, ToolWithSecret } from './types';

/** A tool of the service that calls this trigger from now on. */
interface Registration {
	tool: ToolRecord;
	secret: string;
	isNew: boolean;
}

/**
 * Whether the tool is live as the fields define it, calls this address, and its secret is known.
 */
export async function haveTool(context: IHookFunctions): Promise<boolean> {
	const { toolId, secret } = readStoredTool(context.getWorkflowStaticData('node'));
	if (!toolId || !secret) return false;
	const tool = await findTool(context, toolId);
	return tool?.status === 'live' && hasDefinition(tool, readDefinition(context));
}

/**
 * Registers the tool or brings it up to date, and asks the service to let it go live. The service
 * makes its test call after this has returned, since only then n8n stores the secret; how that call
 * ends is followed and logged, not waited for.
 * All or nothing: when a step fails, what was registered is removed and what was changed is paused.
 * @throws NodeOperationError when the name belongs to a tool that is live at another address
 */
export async function publishTool(context: IHookFunctions): Promise<void> {
	const definition = readDefinition(context);
	const sample = readSample(context, definition);
	const staticData = context.getWorkflowStaticData('node');
	const before = readStoredTool(staticData);
	const known = await findKnownTool(context, before);
	const registration = await register(context, definition, known, before.secret);
	// n8n still holds the former secret and would refuse the test call with it.
	const isSecretReplaced = before.secret !== undefined && before.secret !== registration.secret;
	if (!isSecretReplaced) {
		await goLive(context, registration.tool.id, sample).catch(async (error: Error) => {
			await takeBack(context, registration);
			throw error;
		});
	}
	if (known && known.id !== registration.tool.id) await removeQuietly(context, known.id);
	staticData.toolId = registration.tool.id;
	staticData.secret = registration.secret;
	// Not awaited: the test call can be verified only after this has returned.
	void followGoLive(context, {
		toolId: registration.tool.id,
		timeoutSeconds: definition.timeout,
		begin: isSecretReplaced
			? async () => await goLiveIfHere(context, registration.tool.id, sample)
			: undefined,
	});
}

/**
 * Ends what `create` began: removes the draft of a listening, pauses a published tool.
 * @returns whether no tool calls this address any more
 */
export async function releaseTool(context: IHookFunctions): Promise<boolean> {
	const { toolId, isDraft } = readStoredTool(context.getWorkflowStaticData('node'));
	if (isDraft) return await removeDraft(context);
	const isPaused = await pauseTool(context);
	// Without an id it is not known which of both it was.
	return toolId ? isPaused : (await removeDraft(context)) && isPaused;
}

/**
 * Pauses the tool that calls this address; id and secret are kept for the next publication. What
 * does not exist any more is fine, and a tool that calls another address by now is left alone.
 * Never throws: n8n would try again, possibly after the workflow was published anew.
 */
async function pauseTool(context: IHookFunctions): Promise<boolean> {
	const staticData = context.getWorkflowStaticData('node');
	try {
		const tool =
			(await findKnownTool(context, readStoredTool(staticData))) ?? (await findToolHere(context));
		if (!tool) return true;
		const paused: ToolRecord = await requestTool(context, tool.id, 'pause');
		// Perhaps the secret was changed at the service: the next publication asks for a new one.
		if (paused.last_test?.succeeded === false) delete staticData.secret;
		return true;
	} catch (error) {
		if (errorCode(error) === 'not_found') return true;
		context.logger.warn('Could not pause the tool at Conversation Service', {
			error: (error as Error).message,
		});
		return false;
	}
}

/** The tool that is stored, unless it was deleted or given another address meanwhile. */
async function findKnownTool(
	context: IHookFunctions,
	{ toolId }: StoredTool,
): Promise<ToolRecord | null> {
	const tool = toolId ? await findTool(context, toolId) : null;
	return tool && isHere(context, tool) ? tool : null;
}

/** For when the id was lost. */
async function findToolHere(context: IHookFunctions): Promise<ToolRecord | null> {
	const tool = await findToolByName(context, readName(context));
	return tool && isHere(context, tool) ? tool : null;
}

/** The path names the trigger; the host in front of it can change with the settings of n8n. */
const isHere = (context: IHookFunctions, { endpoint }: ToolRecord): boolean =>
	endpoint !== null && parseUrl(endpoint)?.pathname === parseUrl(getAddress(context))?.pathname;

async function register(
	context: IHookFunctions,
	definition: ToolDefinition,
	known: ToolRecord | null,
	knownSecret: string | undefined,
): Promise<Registration> {
	if (known?.name === definition.name) {
		return await change(context, known, definition, knownSecret);
	}
	const inTheWay = await findToolByName(context, definition.name);
	if (inTheWay) return await takeOver(context, inTheWay, definition);
	if (known) return await change(context, known, definition, knownSecret);
	try {
		const { secret, ...tool } = await registerTool(context, definition);
		return { tool: tool as ToolRecord, secret, isNew: true };
	} catch (error) {
		// Somebody took the name in this very moment.
		const id = errorCode(error) === 'tool_exists' ? existingId(error) : undefined;
		const other = id ? await findTool(context, id) : null;
		if (!other) throw new NodeApiError(context.getNode(), error as JsonObject);
		return await takeOver(context, other, definition);
	}
}

/**
 * A tool of this name that is not known here: of this address, or of one that it is not called at.
 */
async function takeOver(
	context: IHookFunctions,
	tool: ToolRecord,
	definition: ToolDefinition,
): Promise<Registration> {
	const { kind, status, endpoint } = tool;
	const isCalled = status === 'live' || tool.going_live;
	if (kind === 'Webhook' && (isHere(context, tool) || !isCalled)) {
		return await change(context, tool, definition, undefined);
	}
	throw new NodeOperationError(
		context.getNode(),
		kind === 'HTTP'
			? `The name "${tool.name}" belongs to an HTTP tool`
			: `The name "${tool.name}" belongs to a tool that is live at ${endpoint}`,
		{
			description:
				kind === 'HTTP'
					? 'Enter another "Tool Name", or rename or delete that tool at Conversation Service, then publish again.'
					: 'A name belongs to one tool. Enter another "Tool Name"; or unpublish the workflow of that address (or use Tool → Pause) to let this one take its place, then publish again.',
		},
	);
}

/** @param secret the one that is known; without one the service makes a new one */
async function change(
	context: IHookFunctions,
	tool: ToolRecord,
	definition: ToolDefinition,
	secret: string | undefined,
): Promise<Registration> {
	const changed: ToolRecord = await requestService(context, {
		method: 'PATCH',
		path: toolPath(tool.id),
		body: definition,
	});
	if (secret) return { tool: changed, secret, isNew: false };
	try {
		const rotated: ToolWithSecret = await requestTool(context, tool.id, 'rotate-secret');
		return { tool: changed, secret: rotated.secret, isNew: false };
	} catch (error) {
		await takeBack(context, { tool: changed, isNew: false });
		throw new NodeApiError(context.getNode(), error as JsonObject);
	}
}

/** @throws NodeApiError, also when the sample does not fit the parameters */
async function goLive(context: IHookFunctions, id: string, sample: IDataObject): Promise<void> {
	try {
		await requestTool(context, id, 'go-live', { arguments: sample });
	} catch (error) {
		throw explainSample(new NodeApiError(context.getNode(), error as JsonObject));
	}
}

/** A moment after the publication: by now another workflow may have taken the tool over. */
async function goLiveIfHere(
	context: IHookFunctions,
	id: string,
	sample: IDataObject,
): Promise<void> {
	const tool = await findTool(context, id);
	if (tool && isHere(context, tool)) return await goLive(context, id, sample);
	throw new NodeOperationError(
		context.getNode(),
		'The tool was given to another address meanwhile',
		{
			description:
				'Another workflow with the same "Tool Name" was published, or the tool was changed at Conversation Service. Publish this workflow again if the tool belongs here.',
		},
	);
}

/** After a failure: nothing that was begun stays live. */
async function takeBack(
	context: IHookFunctions,
	{ tool, isNew }: Pick<Registration, 'tool' | 'isNew'>,
): Promise<void> {
	if (isNew) return await removeQuietly(context, tool.id);
	await requestTool(context, tool.id, 'pause').catch((error: Error) =>
		context.logger.warn('Could not pause the tool again', { error: error.message }),
	);
}

async function removeQuietly(context: IHookFunctions, id: string): Promise<void> {
	await removeTool(context, id).catch((error: Error) =>
		context.logger.warn('Could not remove a tool', { error: error.message }),
	);
}

const requestTool = async <T>(
	context: IHookFunctions,
	id: string,
	action: 'go-live' | 'pause' | 'rotate-secret',
	body?: IDataObject,
): Promise<T> =>
	await requestService(context, { method: 'POST', path: `${toolPath(id)}/${action}`, body });
