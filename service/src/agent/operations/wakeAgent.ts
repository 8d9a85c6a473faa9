import { AGENT_QUEUE, isEnabled, usesWebhook } from '../agentSettings.ts';
import { workGroup } from '../../platform/jobs/workGroup.ts';
import type { Tx } from '../../store/collections.ts';
import type { Conversation } from '../../conversations/index.ts';
import { putLeftToTeam } from './leaveToTeam.ts';
import { findAgentSettings } from './settings.ts';
import { supersedeTurns } from '../webhook/operations/turns.ts';

/**
 * Schedules the agent's next turn in a conversation, if the agent is on and in control. With
 * `hasEndedCall`, also while the conversation waits for a person after a handover.
 * @param quietMs how long the customer has to be quiet before the turn
 * @param hasEndedCall a tool call has ended and the customer has to be told. When the agent is off,
 * they wait for the team
 * @returns whether the agent will take a turn
 */
export async function wakeAgent(
  tx: Tx,
  conversation: Conversation,
  now: Date,
  { quietMs = 0, hasEndedCall = false }: { quietMs?: number; hasEndedCall?: boolean } = {},
): Promise<boolean> {
  if (
    conversation.status !== 'ai_active' &&
    !(hasEndedCall && conversation.status === 'awaiting_human')
  )
    return false;
  const settings = await findAgentSettings(tx, conversation.workspaceId);
  if (!isEnabled(settings)) {
    if (hasEndedCall) await putLeftToTeam(tx, conversation, now);
    return false;
  }
  // The customer wrote again, or control changed: a workflow's turn from before that ends.
  if (usesWebhook(settings)) await supersedeTurns(tx, conversation, now);
  // The job has the conversation's id, so there is at most one: enqueueing it again only moves it.
  await tx.jobs.enqueue({
    id: conversation.id,
    queue: AGENT_QUEUE,
    group: workGroup(conversation.workspaceId, conversation.id),
    runAt: now.getTime() + quietMs,
    rank: 0,
    data: {},
  });
  return true;
}
