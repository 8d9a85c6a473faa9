import type { Tx } from '../../store/collections.ts';
import { waitForTeam, type Conversation } from '../conversation.ts';
import { findNewestMessages } from './conversations.ts';

/**
 * The agent no longer answers. If the last message is the customer's, they wait for the team since
 * then.
 * @param conversation in the agent's control; any other stays as it is
 * @returns the conversation, unsaved
 */
export async function waitIfUnanswered(tx: Tx, conversation: Conversation): Promise<Conversation> {
  if (conversation.status !== 'ai_active') return conversation;
  const [last] = await findNewestMessages(tx, conversation.id, 1);
  return last?.direction === 'inbound'
    ? waitForTeam(conversation, new Date(last.createdAt))
    : conversation;
}
