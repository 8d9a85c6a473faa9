import { createHash } from 'node:crypto';
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { errorCode } from '../../api/errors';
import { idempotencyKey } from '../../api/idempotencyKey';
import { requestService } from '../../api/transport';
import { getTurnId } from './turnFields';

/**
 * Answers a turn: `replies`, `hand-over`, `close` or `end`. Repeating it, as "Retry On Fail" does, sends
 * nothing twice.
 * @throws NodeApiError turn_superseded when the turn is over; then nothing was sent
 */
export async function answerTurn(
	context: IExecuteFunctions,
	itemIndex: number,
	answer: 'replies' | 'hand-over' | 'close' | 'end',
	body: IDataObject,
): Promise<IDataObject> {
	const turnId = getTurnId(context, itemIndex);
	const step = idempotencyKey(context, itemIndex, JSON.stringify(body), '');
	return await requestService<IDataObject>(context, {
		method: 'POST',
		path: `/api/agent-turns/${turnId}/${answer}`,
		body,
		headers: { 'Idempotency-Key': keyOf(context, step) },
		itemIndex,
	}).catch((error: unknown) => {
		if (errorCode(error) === 'turn_superseded') noteRefusal(context, step);
		throw error;
	});
}

type Refusals = Record<string, number>;

const refusalsOf = (context: IExecuteFunctions): Refusals =>
	(context.getContext('node').refusals as Refusals | undefined) ?? {};

/**
 * The service remembers a refusal for its key. The next try asks anew, since a turn that rests goes on
 * once its wait has ended. Each item counts its own, so that one that was sent is not sent again.
 */
function keyOf(context: IExecuteFunctions, step: string): string {
	const count = refusalsOf(context)[step] ?? 0;
	return count === 0 ? step : createHash('sha256').update(`${step} ${count}`).digest('hex');
}

function noteRefusal(context: IExecuteFunctions, step: string): void {
	const refusals = refusalsOf(context);
	context.getContext('node').refusals = { ...refusals, [step]: (refusals[step] ?? 0) + 1 };
}

/** The text of a field, or nothing when it is empty. */
export function readText(
	context: IExecuteFunctions,
	name: string,
	itemIndex: number,
): string | undefined {
	const text = String(context.getNodeParameter(name, itemIndex, '') ?? '');
	return text.trim() ? text : undefined;
}
