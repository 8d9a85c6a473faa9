import { waitForTeam, waitIfUnanswered, type Conversation } from '../../conversations/index.ts';
import type { Tx } from '../../store/collections.ts';

/**
 * Lets the customer wait for the team, because the agent was turned off before it had told them
 * everything. Changes nothing when a person has the conversation already.
 * @returns the conversation, not saved
 */
export const leftToTeam = async (
  tx: Tx,
  conversation: Conversation,
  now: Date,
): Promise<Conversation> =>
  conversation.status === 'ai_active'
    ? waitForTeam(await waitIfUnanswered(tx, conversation), now)
    : conversation;

/**
 * As `leftToTeam`, and saves the conversation.
 * @param conversation locked
 */
export async function leaveToTeam(
  tx: Tx,
  conversation: Conversation | null,
  now: Date,
): Promise<void> {
  if (conversation?.status !== 'ai_active') return;
  await tx.conversations.put(await leftToTeam(tx, conversation, now));
}
