import { isEnabled, AGENT_QUEUE, DEFAULT_AGENT, type AgentSettings } from '../agentSettings.ts';
import type { Tx } from '../../store/collections.ts';
import type { Conversation } from '../../conversations/index.ts';
import type { Deps } from '../../platform/deps.ts';
import type { Tool } from '../../tools/index.ts';
import { workGroup } from '../../platform/jobs/workGroup.ts';

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
  { agent }: Pick<Deps, 'agent'>,
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

/** The settings, locked so that they can be changed, even before anyone has set anything. */
export const loadAgentSettings = async (tx: Tx, workspaceId: string): Promise<AgentSettings> =>
  (await tx.agentSettings.get(workspaceId)) ?? defaultSettings(workspaceId);

/** The settings, or the defaults. They are not locked, because every message reads them. */
export async function findAgentSettings(tx: Tx, workspaceId: string): Promise<AgentSettings> {
  const [found] = await tx.agentSettings.find({ where: { workspaceId }, limit: 1 });
  return found ?? defaultSettings(workspaceId);
}

const defaultSettings = (workspaceId: string): AgentSettings => ({
  id: workspaceId,
  workspaceId,
  ...DEFAULT_AGENT,
  updatedAt: '',
});
