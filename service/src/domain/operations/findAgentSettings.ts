import { DEFAULT_AGENT, type AgentSettings } from '../agentSettings.ts';
import type { Tx } from '../collections.ts';

/** A workspace's agent, as set or as it is from the start. Locks nothing: each message asks. */
export async function findAgentSettings(tx: Tx, workspaceId: string): Promise<AgentSettings> {
  const [found] = await tx.agentSettings.find({ where: { workspaceId }, limit: 1 });
  return found ?? { id: workspaceId, workspaceId, ...DEFAULT_AGENT, updatedAt: '' };
}
