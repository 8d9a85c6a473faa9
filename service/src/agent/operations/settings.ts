import {
  DEFAULT_AGENT,
  isEnabled,
  paymentLinkPolicyOf,
  type AgentSettings,
} from '../agentSettings.ts';
import {
  CREATE_PAYMENT_LINK,
  paymentLinkTool,
  type BuiltInTool,
  cancelApprovals,
} from '../../tools/index.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Tx } from '../../store/collections.ts';
import type { Deps } from '../../platform/deps.ts';
import type { Workspace } from '../../team/index.ts';
import { findPaymentAccount, PAYMENT_ADAPTERS } from '../../payments/index.ts';

type AgentChanges = Partial<Omit<AgentSettings, 'id' | 'workspaceId' | 'updatedAt'>>;

/** `changeAgentSettings` in a transaction of its own. */
export const updateAgentSettings = (deps: Deps, workspace: Workspace, changes: AgentChanges) =>
  deps.store.transaction((tx) => changeAgentSettings(tx, deps, workspace, changes));

/**
 * Changes the given settings of the agent and keeps the others. When payment links are switched off,
 * those that wait for approval are cancelled.
 */
export async function changeAgentSettings(
  tx: Tx,
  { clock, reactions }: Pick<Deps, 'clock' | 'reactions'>,
  workspace: Workspace,
  changes: AgentChanges,
): Promise<AgentSettings> {
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
      { reactions },
      { workspaceId: workspace.id, builtIn: CREATE_PAYMENT_LINK },
      now,
    );
  return settings;
}

/**
 * The built-in tools that a workspace's agent can use now: payment links, if the settings allow them
 * and a payment provider is set up. Of several providers, the preferred one is used.
 */
export async function findBuiltInTools(
  tx: Tx,
  workspaceId: string,
): Promise<readonly BuiltInTool[]> {
  const policy = paymentLinkPolicyOf(await findAgentSettings(tx, workspaceId));
  if (policy === 'off') return [];
  for (const { provider } of PAYMENT_ADAPTERS) {
    if (await findPaymentAccount(tx, workspaceId, provider))
      return [paymentLinkTool(provider, policy === 'ask')];
  }
  return [];
}

export const isAgentOn = async (tx: Tx, workspaceId: string): Promise<boolean> =>
  isEnabled(await findAgentSettings(tx, workspaceId));

/** The settings, locked so that they can be changed, even before anyone has set anything. */
const loadAgentSettings = async (tx: Tx, workspaceId: string): Promise<AgentSettings> =>
  (await tx.agentSettings.get(workspaceId)) ?? defaultSettings(workspaceId);

/** The settings, or the defaults. They are not locked, because every message reads them. */
export const findAgentSettings = async (tx: Tx, workspaceId: string): Promise<AgentSettings> =>
  (await tx.agentSettings.peek(workspaceId)) ?? defaultSettings(workspaceId);

const defaultSettings = (workspaceId: string): AgentSettings => ({
  id: workspaceId,
  workspaceId,
  ...DEFAULT_AGENT,
  updatedAt: '',
});
