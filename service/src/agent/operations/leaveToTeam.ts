import { waitForTeam, waitIfUnanswered, type Conversation } from '../../conversations/index.ts';
import type { Tx } from '../../store/collections.ts';

/**
 * Lets a customer wait for the team who was to hear more when the agent was turned off, unless a
 * person has the conversation already.
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
