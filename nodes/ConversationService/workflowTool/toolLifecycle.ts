import type { IHookFunctions } from 'n8n-workflow';
import { isRestart, publish, tryTo, unpublish } from '../shared/publication';
import { readStoredTool } from './storedTool';
import { explainSampleError, readDefinition, readName, readSample } from './toolDefinition';
import { removeDraft } from './toolListening';

/**
 * Publishes the workflow as a tool. The service makes its test call after this returns, since n8n
 * stores the secret only then.
 * @throws NodeOperationError, NodeApiError with what to correct; then the tool has not changed
 */
export async function publishTool(context: IHookFunctions): Promise<void> {
	const { name, ...definition } = readDefinition(context);
	const stored = readStoredTool(context);
	const wanted = {
		definition,
		sample_arguments: readSample(context, definition.parameters),
		...(isRestart(context, stored) ? { keep_paused: true } : {}),
	};
	try {
		const { notice } = await publish(context, pathOf(name), wanted, stored);
		stored.name = name;
		if (notice) context.logger.info(`The tool ${name} is published. ${notice}`);
	} catch (error) {
		throw explainSampleError(error);
	}
}

/**
 * Undoes `publishTool` or `listenWithDraft`: pauses the tool, or removes the draft. Never throws.
 * @returns whether the service no longer calls this address
 */
export async function releaseTool(context: IHookFunctions): Promise<boolean> {
	const stored = readStoredTool(context);
	const { draftId, secret, name } = stored;
	if (draftId) return await removeDraft(context);
	const isPaused = await tryTo(context, 'pause the tool', () =>
		unpublish(context, pathOf(name ?? readName(context)), stored),
	);
	// Without the stored secret, it is unknown which of the two to undo, so both are.
	return secret ? isPaused : (await removeDraft(context)) && isPaused;
}

const pathOf = (name: string): string => `/api/tools/published/${encodeURIComponent(name)}`;
