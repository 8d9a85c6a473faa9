import type { AgentSettings } from '../agentSettings.ts';
import type { Deps } from '../deps.ts';
import { MAX_TOOLS } from '../tool.ts';
import type { Workspace } from '../workspace.ts';
import { findAgentSettings } from './findAgentSettings.ts';

/** The agent's settings, and how many tools it can call. */
export const readAgent = ({ store }: Deps, workspace: Workspace) =>
  store.transaction(
    async (tx): Promise<{ settings: AgentSettings; liveTools: number }> => ({
      settings: await findAgentSettings(tx, workspace.id),
      liveTools: (
        await tx.tools.find({
          where: { workspaceId: workspace.id, status: 'live' },
          limit: MAX_TOOLS,
        })
      ).length,
    }),
  );
