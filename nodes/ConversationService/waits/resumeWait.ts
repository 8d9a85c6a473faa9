import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { errorCode } from '../api/errors';
import { requestService } from '../api/transport';
import type { WaitRecord } from '../api/types';
import { findWaitId } from './currentWait';
import { toDecision } from './decisionOutput';
import { toReply } from './replyOutput';

/** Less than the time that the service gives this node to answer its call. */
const COLLECT_TIMEOUT_MS = 8000;

/**
 * Resumes the execution with what the service says about the wait. Takes nothing but the ID from the
 * call, so that nobody who has the address can answer for a person.
 *
 * Never throws: n8n would resume with an error, although the next attempt may succeed.
 */
export async function resumeWait(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		const waitId = findWaitId(context);
		const { wait_id: calledId } = context.getBodyData() ?? {};
		if (!waitId || calledId !== waitId) {
			return refuse(context, 409, {
				code: 'not_the_current_wait',
				message: 'The execution is not waiting for this wait.',
			});
		}
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

/** Answers the call and lets the execution rest as before. */
function refuse(
	context: IWebhookFunctions,
	status: number,
	error: IDataObject,
): IWebhookResponseData {
	context.getResponseObject().status(status).json({ resumed: false, error });
	return { noWebhookResponse: true };
}
