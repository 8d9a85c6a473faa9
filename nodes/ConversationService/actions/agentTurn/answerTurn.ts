import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { errorCode } from '../../api/errors';
import { idempotencyKey } from '../../api/idempotencyKey';
import { keyAfterRefusals, noteRefusal } from '../../api/refusals';
import { requestService } from '../../api/transport';
import { getTurnId } from '../../shared/turn';

/**
 * Answers a turn: `replies`, `hand-over`, `close` or `end`. Repeating it, as "Retry On Fail" does,
 * sends nothing twice.
 * @throws NodeApiError turn_superseded when the turn is over or rests for a wait; nothing was sent
 */
export async function answerTurn(
	context: IExecuteFunctions,
	itemIndex: number,
	answer: 'replies' | 'hand-over' | 'close' | 'end',
	body: IDataObject,
): Promise<IDataObject> {
	const turnId = getTurnId(context, itemIndex);
	const stepKey = idempotencyKey(context, itemIndex, JSON.stringify(body));
	return await requestService<IDataObject>(context, {
		method: 'POST',
		path: `/api/agent-turns/${turnId}/${answer}`,
		body,
		headers: { 'Idempotency-Key': keyAfterRefusals(context, stepKey) },
		itemIndex,
	}).catch((error: unknown) => {
		// Perhaps the turn rests for a wait. Once the wait has ended, the next try needs a new key.
		if (errorCode(error) === 'turn_superseded') noteRefusal(context, stepKey);
		throw error;
	});
}
