import { isEnabled, AGENT_QUEUE, DEFAULT_AGENT, type AgentSettings } from '../agentSettings.ts';
import type { Tx } from '../../store/collections.ts';
import type { Conversation } from '../../conversations/index.ts';
import type { Deps } from '../../platform/deps.ts';
import type { Tool } from '../../tools/index.ts';
import { workGroup } from '../../platform/jobs/workGroup.ts';

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

/** The first live tool of a workspace switches the agent on, unless someone has decided about it. */
export async function switchOnForTool(tx: Tx, tool: Tool): Promise<void> {
  const settings = await loadAgentSettings(tx, tool.workspaceId);
  if (settings.enabled !== null) return;
  await tx.agentSettings.put({ ...settings, enabled: true, updatedAt: tool.updatedAt });
}

/** For changing it: locked, also while nobody has set anything. */
export const loadAgentSettings = async (tx: Tx, workspaceId: string): Promise<AgentSettings> =>
  (await tx.agentSettings.get(workspaceId)) ?? asFromStart(workspaceId);

/** A workspace's agent, as set or as it is from the start. Locks nothing: each message asks. */
export async function findAgentSettings(tx: Tx, workspaceId: string): Promise<AgentSettings> {
  const [found] = await tx.agentSettings.find({ where: { workspaceId }, limit: 1 });
  return found ?? asFromStart(workspaceId);
}

const asFromStart = (workspaceId: string): AgentSettings => ({
  id: workspaceId,
  workspaceId,
  ...DEFAULT_AGENT,
  updatedAt: '',
});
