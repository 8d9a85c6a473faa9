import { timestamp } from '../../../platform/clock.ts';
import type { Deps } from '../../../platform/deps.ts';
import { AppError, notFound } from '../../../platform/http/errorCatalogue.ts';
import {
  isToUnpublish,
  isSameOwner,
  ownerInWords,
  type Owner,
  type Unpublishing,
} from '../../../platform/owner.ts';
import { hasSecretHash } from '../../../platform/security/secretBox.ts';
import { newSigningSecret } from '../../../platform/security/tokens.ts';
import type { Workspace } from '../../../team/index.ts';
import { isEnabled } from '../../agentSettings.ts';
import type { AgentWebhook } from '../agentWebhook.ts';
import { changeAgentSettings } from '../../operations/settings.ts';

interface WantedWebhook {
  readonly endpoint: string;
  readonly timeoutSeconds: number;
  readonly owner: Owner;
  /** SHA-256 of the signing secret that the publisher holds; null when it holds none. */
  readonly secretHash: string | null;
  /** Take the place of another workflow even while that one is published. */
  readonly takeOver: boolean;
  /** Switch the agent on, with the workflow as what decides. */
  readonly turnOn: boolean;
  /**
   * Whether the team's choices stay: what decides for the agent, unless no workflow was published
   * before, and that another workflow can take over.
   */
  readonly keepSettings: boolean;
}

export interface PublishedWebhook {
  readonly webhook: AgentWebhook;
  /** Null when the publisher holds the secret already. */
  readonly secret: string | null;
  readonly isAgentOn: boolean;
}

/**
 * Makes a workflow the agent of the workspace: from now on, turns go to its address. Publishing it
 * again unchanged changes only the revision, unless `turnOn` asks for more, and turns that are under
 * way go on.
 * @throws published_elsewhere (409) while another workflow is published; target_url_* (422)
 */
export async function publishWebhook(
  deps: Deps,
  workspace: Workspace,
  { endpoint, timeoutSeconds, owner, secretHash, takeOver, turnOn, keepSettings }: WantedWebhook,
): Promise<PublishedWebhook> {
  await deps.checkTargetUrl(workspace, endpoint, 'endpoint');
  return deps.store.transaction(async (tx) => {
    const before = await tx.agentWebhooks.get(workspace.id);
    if (before && !takeOver) assertFree(before, owner);
    const isOwn = before !== null && isSameOwner(before.owner, owner);
    // When n8n starts again, it publishes again. What the team chose since stays.
    const isAgain = isOwn && before.removedAt === null && before.endpoint === endpoint;
    const staysReleased = isOwn && keepSettings && before.isReleased;
    const isSecretKnown =
      before !== null && hasSecretHash(deps.secrets, before.sealedSecret, secretHash);
    const secret = isSecretKnown ? null : newSigningSecret();
    const webhook: AgentWebhook = {
      id: workspace.id,
      workspaceId: workspace.id,
      endpoint,
      timeoutSeconds,
      sealedSecret: secret === null ? before!.sealedSecret : deps.secrets.seal(secret),
      owner,
      revision: (before?.revision ?? 0) + 1,
      publishedAt: timestamp(deps.clock.now()),
      removedAt: null,
      ...(staysReleased && { isReleased: true }),
    };
    await tx.agentWebhooks.put(webhook);
    const isBrainKept = isAgain || (keepSettings && before !== null);
    const changes = {
      ...(turnOn || !isBrainKept ? { usesWebhook: true } : {}),
      ...(turnOn ? { enabled: true } : {}),
    };
    const settings = await changeAgentSettings(tx, deps, workspace, changes);
    return { webhook, secret, isAgentOn: isEnabled(settings) };
  });
}

/** @throws published_elsewhere (409) */
function assertFree({ owner: holder, removedAt, isReleased }: AgentWebhook, owner: Owner): void {
  if (removedAt !== null || isReleased || isSameOwner(holder, owner)) return;
  throw new AppError(
    'published_elsewhere',
    `The agent is ${ownerInWords(holder)}. Unpublish it there, let another workflow take over on the Agent screen of the service, or take it over.`,
    { param: 'owner' },
  );
}

/**
 * Unpublishes the workflow that is the agent. `usesWebhook` stays as it is: what customers write then
 * waits for a minute, and goes to a person. Nothing happens when another workflow is published, or
 * when it was published again since.
 * @returns whether this call unpublished it
 */
export const unpublishWebhook = (
  { store, clock }: Deps,
  workspace: Workspace,
  unpublishing: Unpublishing,
) =>
  store.transaction(async (tx): Promise<boolean> => {
    const webhook = await tx.agentWebhooks.get(workspace.id);
    const isOwn = webhook?.removedAt === null && isToUnpublish(webhook, unpublishing);
    if (isOwn) await tx.agentWebhooks.put({ ...webhook, removedAt: timestamp(clock.now()) });
    return isOwn;
  });

/**
 * Lets another workflow become the agent. Until then, this one stays the agent.
 * @throws not_found (404)
 */
export const releaseWebhook = ({ store }: Deps, workspace: Workspace) =>
  store.transaction(async (tx): Promise<void> => {
    const webhook = await tx.agentWebhooks.get(workspace.id);
    if (!webhook) throw notFound('published workflow', workspace.agentId);
    await tx.agentWebhooks.put({ ...webhook, isReleased: true });
  });
