import { DEFAULT_AGENT, type AgentSettings } from '../agentSettings.ts';
import type { Tx } from '../collections.ts';

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
