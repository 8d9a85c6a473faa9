import type { IHookFunctions } from 'n8n-workflow';
import { sleep } from 'n8n-workflow';
import { requestService } from './transport';
import type { ToolRecord } from './types';

/** Time for n8n to store what `create` leaves in the static data. */
export const STORED_AFTER_MS = 1500;
const LOOK_EVERY_MS = 2000;
/** The service asks a 503 again for 60 seconds, then makes at most three attempts. */
const PATIENCE_SECONDS = 90;
const MOST_ATTEMPTS = 3;

/**
 * Looks how the test call after a publication ends, and logs a failure with what to do about it:
 * n8n has published the workflow by then, and nothing else of it can tell its user. Ends with the
 * test call, after 90 seconds and three time-outs at the latest, or when the service is away.
 * @param begin asks for the test call first, once n8n can verify it
 */
export async function followGoLive(
	context: IHookFunctions,
	{
		toolId,
		timeoutSeconds,
		begin,
	}: { toolId: string; timeoutSeconds: number; begin?: () => Promise<void> },
): Promise<void> {
	const giveUpAt = Date.now() + (PATIENCE_SECONDS + MOST_ATTEMPTS * timeoutSeconds) * 1000;
	try {
		if (begin) {
			await sleep(STORED_AFTER_MS);
			await begin();
		}
		while (Date.now() < giveUpAt) {
			const tool = await getTool(context, toolId);
			if (!tool.going_live) return report(context, tool);
			await sleep(LOOK_EVERY_MS);
		}
	} catch (error) {
		// The workflow may have been unpublished meanwhile, or the service stopped.
		context.logger.warn('Could not see whether the tool went live at Conversation Service', {
			error: (error as Error).message,
		});
	}
}

const getTool = async (context: IHookFunctions, id: string): Promise<ToolRecord> =>
	await requestService(context, { method: 'GET', path: `/api/tools/${encodeURIComponent(id)}` });

function report(context: IHookFunctions, { name, status, last_test: test }: ToolRecord): void {
	if (status !== 'draft' || test?.succeeded !== false) return;
	context.logger.error(
		`The tool "${name}" did not go live, because its test call failed: ${test.error ?? 'no reason given'} The agent does not call it. Correct the workflow or the sample arguments of the trigger "${context.getNode().name}", then publish again or use Tool → Go Live. Tool → Get shows the test as last_test.`,
		{ toolCallId: test.tool_call_id, workflowId: context.getWorkflow().id },
	);
}
