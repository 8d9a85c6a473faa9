import type { IHookFunctions, NodeApiError } from 'n8n-workflow';
import { sleep } from 'n8n-workflow';
import { toolPath } from './toolApi';
import { requestService } from './transport';
import type { ToolCallRecord, ToolRecord } from './types';

/** Time for n8n to store what `create` leaves in the static data. */
export const STORED_AFTER_MS = 1500;
const LOOK_EVERY_MS = 2000;
/** The service asks a 503 again for 60 seconds, then makes at most three attempts. */
const PATIENCE_SECONDS = 90;
const MAX_TOOL_CALL_ATTEMPTS = 3;
/** How often a test call is asked for that n8n refuses because it still holds the former secret. */
const MAX_BEGINNINGS = 4;

interface Publication {
	toolId: string;
	timeoutSeconds: number;
	/** Asks for the test call, when that could not be done before n8n had stored a new secret. */
	begin?: () => Promise<void>;
}

/**
 * Looks how the test call after a publication ends, and logs a failure with what to do about it:
 * n8n has published the workflow by then, and nothing else of it can tell its user. Ends with the
 * test call, after 90 seconds and three time-outs at the latest, or when the service is away.
 */
export async function followGoLive(
	context: IHookFunctions,
	{ toolId, timeoutSeconds, begin }: Publication,
): Promise<void> {
	const giveUpAt = Date.now() + (PATIENCE_SECONDS + MAX_TOOL_CALL_ATTEMPTS * timeoutSeconds) * 1000;
	try {
		for (let beginnings = 1; ; beginnings++) {
			if (begin) {
				await sleep(STORED_AFTER_MS * beginnings);
				await begin();
			}
			const tool = await waitForEnd(context, toolId, giveUpAt);
			if (!tool || !isFailed(tool)) return;
			const isToBeginAgain = begin && beginnings < MAX_BEGINNINGS;
			if (!isToBeginAgain || !(await wasRefused(context, tool))) return report(context, tool);
		}
	} catch (error) {
		// The workflow may have been unpublished meanwhile, or the service stopped.
		const { message, description } = error as Pick<NodeApiError, 'message' | 'description'>;
		context.logger.warn(
			`Could not see whether the tool of "${context.getNode().name}" went live at Conversation Service. Tool → Get shows its status and last_test.`,
			{ error: message, fix: description, workflowId: context.getWorkflow().id },
		);
	}
}

/** @returns null when the call takes longer than anybody waits for it */
async function waitForEnd(
	context: IHookFunctions,
	toolId: string,
	giveUpAt: number,
): Promise<ToolRecord | null> {
	while (Date.now() < giveUpAt) {
		const tool: ToolRecord = await requestService(context, {
			method: 'GET',
			path: toolPath(toolId),
		});
		if (!tool.going_live) return tool;
		await sleep(LOOK_EVERY_MS);
	}
	return null;
}

const isFailed = ({ status, last_test: test }: ToolRecord): boolean =>
	status === 'draft' && test?.succeeded === false;

/** Whether the trigger did not accept the signature of the test call. */
async function wasRefused(context: IHookFunctions, tool: ToolRecord): Promise<boolean> {
	const call: ToolCallRecord = await requestService(context, {
		method: 'GET',
		path: `/api/tool-calls/${encodeURIComponent(tool.last_test?.tool_call_id ?? '')}`,
	});
	return call.http_status === 401;
}

function report(context: IHookFunctions, { name, last_test: test }: ToolRecord): void {
	context.logger.error(
		`The tool "${name}" did not go live, because its test call failed: ${test?.error ?? 'no reason given'} The agent does not call it. Correct the workflow or the sample arguments of the trigger "${context.getNode().name}", then publish again or use Tool → Go Live. Tool → Get shows the test as last_test.`,
		{ toolCallId: test?.tool_call_id, workflowId: context.getWorkflow().id },
	);
}
