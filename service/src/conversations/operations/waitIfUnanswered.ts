import type { Tx } from '../../store/collections.ts';
import { waitForTeam, type Conversation } from '../conversation.ts';
import { findNewestMessages } from './conversations.ts';

/** Automations may have sent some beside the agent since the customer wrote. */
const MESSAGES_READ = 20;

/**
 * The agent no longer answers. If nobody has answered the customer's last message, they have been
 * waiting for the team since then. What was sent beside the agent is no answer, unless it is the
 * question of a workflow.
 * @param conversation in the agent's control; any other stays as it is
 * @returns the conversation, unsaved
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
