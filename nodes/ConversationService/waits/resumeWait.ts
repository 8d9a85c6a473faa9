import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { errorCode } from '../api/errors';
import { requestService } from '../api/transport';
import type { WaitRecord } from '../api/types';
import { currentWaitId } from './currentWait';
import { toDecision } from './decisionOutput';
import { toReply } from './replyOutput';

/** Shorter than the service waits for an answer to its call. */
const COLLECT_TIMEOUT_MS = 8000;

/**
 * Goes on with what the service says about the wait. What the call says counts for nothing but the
 * ID: somebody who has the address still cannot answer for a person.
 *
 * It never throws, since n8n would go on with an error where the next attempt may succeed.
 */
export async function resumeWait(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const waitId = currentWaitId(context);
	const { wait_id: asked } = context.getBodyData() ?? {};
	if (!waitId || asked !== waitId) {
		return refuse(context, 409, {
			code: 'not_the_current_wait',
			message: 'The execution does not rest for this wait.',
		});
	}
	try {
		const wait = await requestService<WaitRecord>(context, {
			method: 'POST',
			path: `/api/waits/${waitId}/collect`,
			maxWaitSeconds: 0,
			timeoutMs: COLLECT_TIMEOUT_MS,
		});
		const json = wait.kind === 'decision' ? toDecision(wait) : toReply(wait);
		return {
			webhookResponse: { wait_id: waitId, resumed: true },
			workflowData: [[{ json, pairedItem: { item: 0 } }]],
		};
	} catch (error) {
		const code = errorCode(error) ?? 'not_collected';
		return refuse(context, code.startsWith('wait_') ? 409 : 503, {
			code,
			message: (error as Error).message,
		});
	}
}

/** Answers without letting the execution go on: it rests as before. */
function refuse(
	context: IWebhookFunctions,
	status: number,
	error: IDataObject,
): IWebhookResponseData {
	context.getResponseObject().status(status).json({ resumed: false, error });
	return { noWebhookResponse: true };
}
