import { createHash } from 'node:crypto';
import type { IHookFunctions, JsonObject } from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';
import { getIdentity, getOwner } from '../shared/owner';
import { readStoredTool } from './storedTool';
import { explainSample, getAddress, readDefinition, readName, readSample } from './toolDefinition';
import { removeDraft } from './toolListening';
import { requestService } from '../api/transport';
import type { PublishedTool } from '../api/types';

/**
 * Publishes the workflow as a tool. The service makes its test call after this returns, since n8n
 * stores the secret only then.
 * @throws NodeOperationError, NodeApiError with what to correct; then the tool has not changed
 */
export async function publishTool(context: IHookFunctions): Promise<void> {
	const { name, ...definition } = readDefinition(context);
	const stored = readStoredTool(context);
	const body = {
		definition,
		sample_arguments: readSample(context, definition.parameters),
		owner: getOwner(context),
		take_over: context.getNodeParameter('options.takeOver', false) as boolean,
		// Without the hash of the tool's current secret, the answer has a new secret.
		...(stored.secret ? { secret_hash: sha256(stored.secret) } : {}),
	};
	try {
		const { revision, secret, notice }: PublishedTool = await requestService(context, {
			method: 'PUT',
			path: pathOf(name),
			body,
		});
		Object.assign(stored, { name, revision, secret: secret ?? stored.secret });
		if (notice) context.logger.info(`The tool ${name} is published. ${notice}`);
	} catch (error) {
		throw explainSample(new NodeApiError(context.getNode(), error as JsonObject));
	}
}

/**
 * Ends what `create` began: pauses the published tool, or removes the draft of a test.
 * Never throws: n8n would try again, possibly after the workflow was published again.
 * @returns whether the service no longer calls this address
 */
export async function releaseTool(context: IHookFunctions): Promise<boolean> {
	const { draftId, secret } = readStoredTool(context);
	if (draftId) return await removeDraft(context);
	const isPaused = await pauseTool(context);
	// Without the stored secret, nothing tells which of the two it was, so both are ended.
	return secret ? isPaused : (await removeDraft(context)) && isPaused;
}

/** Name and secret are kept for the next publication. */
async function pauseTool(context: IHookFunctions): Promise<boolean> {
	const stored = readStoredTool(context);
	const { name, revision } = stored;
	delete stored.revision;
	try {
		await requestService(context, {
			method: 'DELETE',
			path: pathOf(name ?? readName(context)),
			query: {
				...getIdentity(context),
				endpoint: getAddress(context),
				...(revision ? { revision } : {}),
			},
		});
		return true;
	} catch (error) {
		context.logger.warn('Could not pause the tool at Conversation Service', {
			error: (error as Error).message,
		});
		return false;
	}
}

const pathOf = (name: string): string => `/api/tools/published/${encodeURIComponent(name)}`;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
