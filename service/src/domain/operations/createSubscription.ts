import { newSigningSecret } from '../../security/tokens.ts';
import { timestamp } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { AppError, ERROR_CATALOGUE } from '../errorCatalogue.ts';
import { newId } from '../ids.ts';
import {
  isRemoved,
  isSameAddress,
  MAX_SUBSCRIPTIONS,
  removalJob,
  revive,
  type Subscription,
} from '../subscription.ts';
import type { Workspace } from '../workspace.ts';
import { findSubscriptions } from './loadSubscription.ts';

type WantedSubscription = Pick<Subscription, 'event' | 'targetUrl' | 'source'>;

/**
 * Subscribes an address to an event. A subscription with the same event, target_url and source that
 * was removed less than a minute ago is revived: it keeps its id and deliveries, and what it is owed
 * is sent, signed with the new secret.
 * @returns the subscription and its signing secret, which is shown this once and kept sealed
 * @throws subscription_exists, subscription_limit_reached (409); target_url_* (422)
 * @see docs/decisions/0022
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
