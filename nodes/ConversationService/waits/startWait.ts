import { createHash } from 'node:crypto';
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { WAIT_INDEFINITELY } from 'n8n-workflow';
import { idempotencyKey } from '../api/idempotencyKey';
import { requestService } from '../api/transport';
import type { WaitRecord } from '../api/types';
import { findTurnId } from '../shared/turn';
import { rememberWait } from './currentWait';
import { readExpiry } from './waitFields';

/**
 * Asks, and lets the execution rest until the service resumes it. `resumeWait` then returns the answer.
 * @param question the fields of the API for this kind of wait
 */
export async function startWait(
	context: IExecuteFunctions,
	question: IDataObject & { kind: WaitRecord['kind'] },
): Promise<INodeExecutionData[]> {
	const turnId = findTurnId(context);
	const asked = {
		...question,
		...(turnId ? { turn_id: turnId } : {}),
		resume_url: context.getSignedResumeUrl(),
	};
	const key = stepKey(context, asked);
	const wait = await requestService<WaitRecord>(context, {
		method: 'POST',
		path: '/api/waits',
		body: { ...asked, expires_at: sameOnRetry(context, key, readExpiry(context)) },
		headers: { 'Idempotency-Key': key },
		itemIndex: 0,
	});
	rememberWait(context, wait.id);
	// The service ends the wait in time. n8n's own time limit would return the input like an answer.
	await context.putExecutionToWait(WAIT_INDEFINITELY);
	return context.getInputData();
}

/**
 * The key of a step: repeating the request makes no second wait. Two calls of a tool that an AI Agent
 * makes in one run are two steps, since each call has its own ID.
 */
function stepKey(context: IExecuteFunctions, asked: IDataObject): string {
	const call = context.getInputData()[0]?.json.toolCallId ?? null;
	const step = idempotencyKey(context, 0, '');
	return createHash('sha256')
		.update(JSON.stringify([step, call, asked]))
		.digest('hex');
}

/** The end of the wait. Under "Retry On Fail" it stays as it was, so that the request is the same. */
function sameOnRetry(context: IExecuteFunctions, key: string, expiresAt: string): string {
	const memory = context.getContext('node');
	if (memory.key !== key) Object.assign(memory, { key, expiresAt });
	return memory.expiresAt as string;
}
