import { timestamp } from '../../../platform/clock.ts';
import type { Deps } from '../../../platform/deps.ts';
import { isSameOwner, type Owner, type OwnerIdentity } from '../../../platform/owner.ts';
import { newSigningSecret } from '../../../platform/security/tokens.ts';
import type { Workspace } from '../../../team/index.ts';
import { TEST_LISTENING_MS, type AgentTestWebhook } from '../agentWebhook.ts';

/**
 * Sends the turns of "Try it" to an n8n editor that listens for a test event, and nowhere else. The
 * newest editor that listens gets them.
 * @throws target_url_* (422)
 */
export async function listenForTest(
  { store, clock, secrets, checkTargetUrl }: Deps,
  workspace: Workspace,
  { endpoint, owner }: { endpoint: string; owner: Owner },
): Promise<{ secret: string; listening: AgentTestWebhook }> {
  await checkTargetUrl(workspace, endpoint, 'endpoint');
  const secret = newSigningSecret();
  const listening: AgentTestWebhook = {
    id: workspace.id,
    workspaceId: workspace.id,
    endpoint,
    owner,
    sealedSecret: secrets.seal(secret),
    expiresAt: timestamp(new Date(clock.now().getTime() + TEST_LISTENING_MS)),
  };
  await store.transaction((tx) => tx.agentTestWebhooks.put(listening));
  return { secret, listening };
}

/**
 * Stops an editor's listening. Another editor that listens goes on.
 * @returns whether it was listening
 */
export const stopListening = (
  { store }: Deps,
  workspace: Workspace,
  { owner, endpoint }: { owner: OwnerIdentity; endpoint: string | undefined },
) =>
  store.transaction(async (tx): Promise<boolean> => {
    const listening = await tx.agentTestWebhooks.get(workspace.id);
    const isOwn =
      listening !== null &&
      isSameOwner(listening.owner, owner) &&
      (endpoint === undefined || endpoint === listening.endpoint);
    return isOwn && tx.agentTestWebhooks.delete(workspace.id);
  });
