import { isEnabled } from '../agentSettings.ts';
import { AGENT_QUEUE } from '../agentTurn.ts';
import type { Tx } from '../collections.ts';
import type { Conversation } from '../conversation.ts';
import type { Deps } from '../deps.ts';
import { findAgentSettings } from './findAgentSettings.ts';

/**
 * Asks the agent to look at a conversation, if it is on and in control. A conversation has at most one
 * job, named after it: asking again moves it.
 * @param runAt ms since the epoch
 * @returns whether the agent will look
 */
export async function wakeAgent(tx: Tx, { agent }: Pick<Deps, 'agent'>, conversation: Conversation, runAt: number): Promise<boolean> {
  if (conversation.status !== 'ai_active') return false;
  const settings = await findAgentSettings(tx, conversation.workspaceId);
  if (!isEnabled(settings, agent.isOnByDefault)) return false;
  await tx.jobs.enqueue({ id: conversation.id, queue: AGENT_QUEUE, group: conversation.id, runAt, rank: 0, data: {} });
  return true;
}
