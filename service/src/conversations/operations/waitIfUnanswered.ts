import type { Tx } from '../../store/collections.ts';
import { waitForTeam, type Conversation } from '../conversation.ts';
import { findNewestMessages } from './conversations.ts';

/** Messages that automations sent since the customer wrote are skipped: up to 19 of them. */
const MESSAGES_READ = 20;

/**
 * To be called when the agent will not answer, because it was turned off or a person takes over. If
 * nobody has answered the customer's last message, the customer waits for the team from the time of
 * that message on. A message beside the agent is no answer, unless it asks a wait's question: an
 * automation sent it, or a workflow after its turn had rested, and the customer may have written
 * since. Waiting once too often is better than being overlooked.
 * @returns the conversation, not saved; the same one when the agent does not control it
 */
export const waitIfUnanswered = async (
  tx: Tx,
  conversation: Conversation,
): Promise<Conversation> =>
  conversation.status === 'ai_active' ? waitSinceLastMessage(tx, conversation) : conversation;

/**
 * As `waitIfUnanswered`, also when the agent does not control the conversation.
 * @param conversation not closed
 */
export async function waitSinceLastMessage(
  tx: Tx,
  conversation: Conversation,
): Promise<Conversation> {
  const newest = await findNewestMessages(tx, conversation.id, MESSAGES_READ);
  const last = newest.find(
    ({ isBesideAgent, waitId }) => isBesideAgent !== true || waitId !== undefined,
  );
  return last?.direction === 'inbound'
    ? waitForTeam(conversation, new Date(last.createdAt))
    : conversation;
}
