import { paymentLinkPolicyOf } from '../agentSettings.ts';
import { paymentLinkTool, type BuiltInTool } from '../builtInTools.ts';
import type { Tx } from '../collections.ts';
import type { Deps } from '../deps.ts';
import { findAgentSettings } from './findAgentSettings.ts';
import { findPaymentAccount } from './paymentAccounts.ts';

/**
 * What the agent of a workspace can do by the service itself, as the settings stand: payment links
 * where the team lets it and a payment provider is set up, with the preferred one of those.
 */
export async function findBuiltInTools(
  tx: Tx,
  { payments }: Pick<Deps, 'payments'>,
  workspaceId: string,
): Promise<readonly BuiltInTool[]> {
  const policy = paymentLinkPolicyOf(await findAgentSettings(tx, workspaceId));
  if (policy === 'off') return [];
  for (const provider of payments.providers) {
    if (await findPaymentAccount(tx, workspaceId, provider))
      return [paymentLinkTool(provider, policy === 'ask')];
  }
  return [];
}
