import { newSigningSecret } from '../../platform/security/tokens.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Tx } from '../../store/collections.ts';
import type { Deps } from '../../platform/deps.ts';
import { AppError, ERROR_CATALOGUE } from '../../platform/http/errorCatalogue.ts';
import { newId } from '../../platform/ids.ts';
import {
  isRemoved,
  isSameAddress,
  MAX_SUBSCRIPTIONS,
  removalJob,
  revive,
  MAX_REMOVED_SUBSCRIPTIONS,
  remove,
  REVIVAL_MS,
  type Subscription,
} from '../subscription.ts';
import type { Workspace } from '../../team/index.ts';
import { findSubscriptions, loadSubscription } from './subscriptions.ts';

type WantedSubscription = Pick<Subscription, 'event' | 'targetUrl' | 'source'>;

/**
 * Subscribes an address to an event. A subscription with the same event, target_url and source that
 * was removed less than a minute ago is revived: it keeps its id and deliveries, and what it is owed
 * is sent, signed with the new secret.
 * @returns the subscription and its signing secret, which is shown this once and kept sealed
 * @throws subscription_exists, subscription_limit_reached (409); target_url_* (422)
 * @see docs/decisions/0022-a-removed-subscription-can-be-revived.md
 */
export async function createSubscription(
  { store, clock, secrets, checkTargetUrl }: Deps,
  workspace: Workspace,
  wanted: WantedSubscription,
): Promise<{ subscription: Subscription; secret: string }> {
  await checkTargetUrl(workspace, wanted.targetUrl, 'target_url');
  const secret = newSigningSecret();
  const sealed = [{ sealed: secrets.seal(secret), expiresAt: null }];
  const subscription = await store.transaction(async (tx) => {
    // Locks the workspace: two creations cannot both be the 25th.
    await tx.workspaces.get(workspace.id);
    const all = await findSubscriptions(tx, workspace.id);
    const active = all.filter((each) => !isRemoved(each));
    assertNew(active, wanted);
    assertRoom(active);
    // An active twin was refused above, so this one is removed.
    const removed = all.find((each) => each.source === wanted.source && isTwin(each, wanted));
    const created = removed
      ? revive(removed, { targetUrl: wanted.targetUrl, secrets: sealed })
      : newSubscription(workspace, wanted, sealed, clock.now());
    await tx.subscriptions.put(created);
    if (removed) await tx.jobs.enqueue(removalJob(removed, 'resend', clock.now()));
    return created;
  });
  return { subscription, secret };
}

const newSubscription = (
  { id: workspaceId }: Workspace,
  wanted: WantedSubscription,
  secrets: Subscription['secrets'],
  now: Date,
): Subscription => ({
  id: newId('sub'),
  workspaceId,
  ...wanted,
  secrets,
  revision: 1,
  removedAt: null,
  consecutiveFailures: 0,
  lastDeliveryAt: null,
  createdAt: timestamp(now),
});

/** Whether both send the same event to the same address. */
const isTwin = (a: WantedSubscription, b: WantedSubscription): boolean =>
  a.event === b.event && isSameAddress(a.targetUrl, b.targetUrl);

function assertNew(all: readonly Subscription[], wanted: WantedSubscription): void {
  const twin = all.find((each) => isTwin(each, wanted));
  if (!twin) return;
  throw new AppError(
    'subscription_exists',
    `Subscription ${twin.id} sends ${twin.event} to this target_url already. ${ERROR_CATALOGUE.subscription_exists.fix}`,
    { existingId: twin.id },
  );
}

function assertRoom(all: readonly Subscription[]): void {
  if (all.length < MAX_SUBSCRIPTIONS) return;
  const bySource = Map.groupBy(all, ({ source }) => source || 'no source');
  const counts = [...bySource]
    .map(([source, { length }]) => `${length} from ${JSON.stringify(source)}`)
    .join(', ');
  throw new AppError(
    'subscription_limit_reached',
    `A workspace has at most ${MAX_SUBSCRIPTIONS} subscriptions; this one has ${all.length} (${counts}). ${ERROR_CATALOGUE.subscription_limit_reached.fix}`,
  );
}

/** What becomes of a removed subscription's deliveries: kept for a revival, or cancelled. */
export const PENDING_CHOICES = ['keep', 'cancel'] as const;

interface Deletion {
  readonly pending?: (typeof PENDING_CHOICES)[number];
  /** Only this revision is removed, and a later one stays. Left out: whichever there is. */
  readonly revision?: number | undefined;
}

/**
 * Unsubscribes: nothing more is sent. For a minute the subscription can be revived and is owed what
 * is pending and what is emitted; with `cancel` it is gone at once. Costs the same whatever is
 * pending: the deliveries of a subscription that is gone are cancelled as their turn comes.
 * @returns false when the subscription has a later revision than the one to remove
 * @throws not_found (404)
 * @see docs/decisions/0022-a-removed-subscription-can-be-revived.md
 */
export const deleteSubscription = (
  { store, clock }: Deps,
  workspace: Workspace,
  id: string,
  { pending = 'keep', revision }: Deletion = {},
) =>
  store.transaction(async (tx): Promise<boolean> => {
    // Locks the workspace: nobody revives the subscription before it is removed.
    await tx.workspaces.get(workspace.id);
    const subscription = await loadSubscription(tx, workspace, id);
    if (revision !== undefined && revision < subscription.revision) return false;
    if (pending === 'cancel') return tx.subscriptions.delete(id);
    const now = clock.now();
    await makeRoom(tx, workspace);
    const removed = remove(subscription, now);
    await tx.subscriptions.put(removed);
    await tx.jobs.enqueue(removalJob(removed, 'end', new Date(now.getTime() + REVIVAL_MS)));
    return true;
  });

/** Gives up the subscription that was removed first when a workspace keeps too many of them. */
async function makeRoom(tx: Tx, { id }: Workspace): Promise<void> {
  const removed = (await findSubscriptions(tx, id)).filter(isRemoved);
  if (removed.length < MAX_REMOVED_SUBSCRIPTIONS) return;
  const [oldest] = removed.sort((a, b) => (a.removedAt! < b.removedAt! ? -1 : 1));
  await tx.subscriptions.delete(oldest!.id);
}
