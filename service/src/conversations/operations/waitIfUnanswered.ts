import type { Tx } from '../../store/collections.ts';
import { waitForTeam, type Conversation } from '../conversation.ts';
import { findNewestMessages } from './conversations.ts';

/** Messages that automations sent since the customer wrote are skipped: up to 19 of them. */
const MESSAGES_READ = 20;

/**
 * For a conversation that the agent will not answer, because it was turned off or a person takes
 * over. If nobody has answered the customer's last message, they wait for the team, since the time
 * of that message. An automation's message beside the agent is no answer, unless it asks the
 * customer something for a workflow.
 * @returns the conversation, not saved; the same one when the agent does not control it
 */
export async function waitIfUnanswered(tx: Tx, conversation: Conversation): Promise<Conversation> {
  if (conversation.status !== 'ai_active') return conversation;
  const newest = await findNewestMessages(tx, conversation.id, MESSAGES_READ);
  const last = newest.find(
    ({ isBesideAgent, waitId }) => isBesideAgent !== true || waitId !== undefined,
  );
  return last?.direction === 'inbound'
    ? waitForTeam(conversation, new Date(last.createdAt))
    : conversation;
}
