import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { deepCopy } from 'n8n-workflow';
import { requestOnce } from '../../api/requestOnce';
import { getTurnId } from '../../shared/turn';

/**
 * Answers a turn: `replies`, `hand-over`, `close` or `end`. Repeating it, as "Retry On Fail" does,
 * sends nothing twice.
 * @throws NodeApiError turn_superseded when the turn is over or suspended by a wait; nothing was sent
 */
export async function answerTurn(
	context: IExecuteFunctions,
	itemIndex: number,
	answer: 'replies' | 'hand-over' | 'close' | 'end',
	body: IDataObject,
): Promise<IDataObject> {
	const turnId = getTurnId(context, itemIndex);
	return await requestOnce<IDataObject>(context, {
		method: 'POST',
		path: `/api/agent-turns/${turnId}/${answer}`,
		body,
		itemIndex,
	});
}

/**
 * Ends a turn without a reply: `hand-over`, `close` or `end`. A turn ends once, so all items of a
 * turn get the answer to the first one, also when the node runs again in the same execution.
 * @throws NodeApiError turn_superseded when something else ended the turn, or a wait suspended it
 */
export async function endTurn(
	context: IExecuteFunctions,
	itemIndex: number,
	answer: 'hand-over' | 'close' | 'end',
	body: IDataObject,
): Promise<IDataObject> {
	const turnId = getTurnId(context, itemIndex);
	const memory = context.getContext('node');
	const ended = (memory.endedTurns ?? {}) as Record<string, IDataObject>;
	ended[turnId] ??= await answerTurn(context, itemIndex, answer, body);
	memory.endedTurns = ended;
	return deepCopy(ended[turnId]);
}
