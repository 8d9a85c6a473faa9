import { isEnabled } from '../agentSettings.ts';
import { AGENT_QUEUE } from '../agentTurn.ts';
import type { Tx } from '../collections.ts';
import type { Conversation } from '../conversation.ts';
import type { Deps } from '../deps.ts';
import { workGroup } from '../workGroup.ts';
import { findAgentSettings } from './findAgentSettings.ts';

/**
 * Asks the agent to look at a conversation, if it is on and in control; with `toTell` also while
 * the conversation waits for a person after the agent's own handing over. A conversation has at
 * most one job, named after it: asking again moves it.
 * @param runAt ms since the epoch
 * @param toTell a call has ended, of which the customer should hear
 * @returns whether the agent will look
 */
export async function wakeAgent(
  tx: Tx,
  { agent }: Pick<Deps, 'agent'>,
  conversation: Conversation,
  runAt: number,
  toTell = false,
): Promise<boolean> {
  if (conversation.status !== 'ai_active' && !(toTell && conversation.status === 'awaiting_human'))
    return false;
  const settings = await findAgentSettings(tx, conversation.workspaceId);
  if (!isEnabled(settings, agent.isOnByDefault)) return false;
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
