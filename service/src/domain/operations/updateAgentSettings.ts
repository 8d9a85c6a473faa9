import { paymentLinkPolicyOf, type AgentSettings } from '../agentSettings.ts';
import { CREATE_PAYMENT_LINK } from '../builtInTools.ts';
import { timestamp } from '../clock.ts';
import type { Deps } from '../deps.ts';
import type { Workspace } from '../workspace.ts';
import { loadAgentSettings } from './findAgentSettings.ts';
import { cancelApprovals } from './cancelApprovals.ts';

export type AgentChanges = Partial<
  Pick<
    AgentSettings,
    | 'name'
    | 'greeting'
    | 'instructions'
    | 'languages'
    | 'enabled'
    | 'paymentLinks'
    | 'handoverPhrases'
  >
>;

/**
 * Changes what is given of the agent's settings, and leaves the rest. What it may not do any more
 * waits for no approval.
 */
export const updateAgentSettings = (
  { store, clock, agent }: Deps,
  workspace: Workspace,
  changes: AgentChanges,
) =>
  store.transaction(async (tx): Promise<AgentSettings> => {
    const now = clock.now();
    const settings = {
      ...(await loadAgentSettings(tx, workspace.id)),
      ...changes,
      updatedAt: timestamp(now),
    };
    await tx.agentSettings.put(settings);
    if (paymentLinkPolicyOf(settings) === 'off')
      await cancelApprovals(
        tx,
        { agent },
        { workspaceId: workspace.id, builtIn: CREATE_PAYMENT_LINK },
        now,
      );
    return settings;
  });
