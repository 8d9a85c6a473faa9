import type { Tx } from '../../store/collections.ts';
import { waitForTeam, type Conversation } from '../conversation.ts';
import type { Message } from '../message.ts';
import { findNewestMessages } from './conversations.ts';

/** Messages that automations sent since the customer wrote are skipped: up to 19 of them. */
const MESSAGES_READ = 20;

/**
 * To be called when the agent will not answer, because it was turned off or a person takes over. If
 * nobody has answered the customer's last message, the customer waits for the team from the time of
 * that message on. An automation's message beside the agent is no answer, unless it asks a wait's
 * question. What a workflow writes after its turn has rested answers the messages of that turn.
 * @returns the conversation, not saved; the same one when the agent does not control it
 */
export const waitIfUnanswered = async (
  tx: Tx,
  conversation: Conversation,
): Promise<Conversation> =>
  conversation.status === 'ai_active' ? waitSinceLastMessage(tx, conversation) : conversation;

/**
 * As `waitIfUnanswered`, whoever controls the conversation.
 * @param conversation not closed
 */
export async function waitSinceLastMessage(
  tx: Tx,
  conversation: Conversation,
): Promise<Conversation> {
  const newest = await findNewestMessages(tx, conversation.id, MESSAGES_READ);
  const progress = await tx.agentTurns.peek(conversation.id);
  const last = lastUnanswered(newest, progress?.answeredThrough ?? 0);
  return last ? waitForTeam(conversation, new Date(last.createdAt)) : conversation;
}

/**
 * @param newest the newest first
 * @param answeredThrough the number of the last message that a workflow has dealt with
 */
function lastUnanswered(newest: readonly Message[], answeredThrough: number): Message | null {
  let isWorkflowBack = false;
  for (const message of newest) {
    const { direction, isBesideAgent, decidedBy, waitId, number } = message;
    if (direction === 'outbound') {
      if (!isBesideAgent || (waitId !== undefined && decidedBy === undefined)) return null;
      if (decidedBy !== undefined) isWorkflowBack = true;
    } else if (!isWorkflowBack || (waitId === undefined && number > answeredThrough))
      return message;
  }
  return null;
}
