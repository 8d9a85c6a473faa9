import type { Conversation } from '../../conversations/index.ts';
import type { Deps } from '../../platform/deps.ts';
import type { Tx } from '../../store/collections.ts';
import { handoverSentence, loadContext, putHandover } from '../webhook/operations/turnMessages.ts';

/**
 * Hands over at once, because the customer asked for a person: nothing else may answer first.
 * @param conversation locked, in the agent's control
 */
export async function handOverOnRequest(
  tx: Tx,
  deps: Pick<Deps, 'messaging' | 'reactions'>,
  conversation: Conversation,
  now: Date,
): Promise<void> {
  const { workspaceId } = conversation;
  const context = await loadContext(tx, { workspaceId, isResumed: false }, conversation);
  const reason = 'customer_request';
  const text = handoverSentence(context, reason);
  await putHandover(tx, deps, context, { reason, note: null, text }, now);
}
