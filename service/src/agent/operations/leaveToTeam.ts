import { waitForTeam, waitIfUnanswered, type Conversation } from '../../conversations/index.ts';
import type { Tx } from '../../store/collections.ts';

/**
 * Lets the customer wait for the team, because the agent was turned off before it had told them
 * everything. Changes nothing when a person has the conversation already.
 * @param conversation locked
 * @returns the conversation, not saved
 */
export const leaveToTeam = async (
  tx: Tx,
  conversation: Conversation,
  now: Date,
): Promise<Conversation> =>
  conversation.status === 'ai_active'
    ? waitForTeam(await waitIfUnanswered(tx, conversation), now)
    : conversation;

/** As `leaveToTeam`, and saves the conversation. */
export async function putLeftToTeam(
  tx: Tx,
  conversation: Conversation | null,
  now: Date,
): Promise<void> {
  if (conversation === null) return;
  const left = await leaveToTeam(tx, conversation, now);
  if (left !== conversation) await tx.conversations.put(left);
}
