import type { AgentSettings } from '../agentSettings.ts';
import { timestamp } from '../clock.ts';
import type { Deps } from '../deps.ts';
import type { Workspace } from '../workspace.ts';
import { findAgentSettings } from './findAgentSettings.ts';

export type AgentChanges = Partial<Pick<AgentSettings, 'name' | 'greeting' | 'instructions' | 'languages' | 'enabled' | 'paymentLinks'>>;

/** Changes what is given of the agent's settings, and leaves the rest. */
export const updateAgentSettings = ({ store, clock }: Deps, workspace: Workspace, changes: AgentChanges) =>
  store.transaction(async (tx): Promise<AgentSettings> => {
    await tx.workspaces.get(workspace.id); // locks the workspace: of two changes none is lost
    const settings = { ...(await findAgentSettings(tx, workspace.id)), ...changes, updatedAt: timestamp(clock.now()) };
    await tx.agentSettings.put(settings);
    return settings;
  });
