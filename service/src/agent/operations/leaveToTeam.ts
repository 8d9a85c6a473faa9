import { waitForTeam, waitIfUnanswered, type Conversation } from '../../conversations/index.ts';
import type { Tx } from '../../store/collections.ts';

/**
 * The agent was turned off while the customer was to hear more: they wait for the team, in a
 * conversation that no person has.
 * @param conversation locked
 */
export async function leaveToTeam(
  tx: Tx,
  conversation: Conversation | null,
  now: Date,
): Promise<void> {
  if (conversation?.status !== 'ai_active') return;
  await tx.conversations.put(waitForTeam(await waitIfUnanswered(tx, conversation), now));
}
