import { isEnabled, AGENT_QUEUE } from '../agentSettings.ts';
import type { Tx } from '../../store/collections.ts';
import type { Conversation } from '../../conversations/index.ts';
import { workGroup } from '../../platform/jobs/workGroup.ts';
import { findAgentSettings } from './settings.ts';

/**
 * Schedules the agent's next turn in a conversation, if the agent is on and in control. With
 * `hasEndedCall`, also while the conversation waits for a person after a handover. A conversation
 * has at most one job, which has its id: waking the agent again only moves the job.
 * @param runAt ms since the epoch
 * @param hasEndedCall a tool call has ended and the customer has to be told
 * @returns whether a turn was scheduled
 */
export async function wakeAgent(
  tx: Tx,
  conversation: Conversation,
  runAt: number,
  hasEndedCall = false,
): Promise<boolean> {
  if (
    conversation.status !== 'ai_active' &&
    !(hasEndedCall && conversation.status === 'awaiting_human')
  )
    return false;
  const settings = await findAgentSettings(tx, conversation.workspaceId);
  if (!isEnabled(settings)) return false;
  await tx.jobs.enqueue({
    id: conversation.id,
    queue: AGENT_QUEUE,
    group: workGroup(conversation.workspaceId, conversation.id),
    runAt,
    rank: 0,
    data: {},
  });
  return true;
}
