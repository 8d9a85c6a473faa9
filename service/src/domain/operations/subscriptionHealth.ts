import type { Tx } from '../collections.ts';
import type { Attempt } from '../delivery.ts';
import type { Deps } from '../deps.ts';
import type { Subscription } from '../subscription.ts';
import type { Workspace } from '../workspace.ts';
import { findActiveSubscriptions, peekSubscription } from './loadSubscription.ts';

/** A subscription, and why it fails when it does. */
export interface SubscriptionHealth {
  readonly subscription: Subscription;
  readonly lastFailure: Attempt | null;
}

/** Every subscription of the workspace, newest first, with its last failed attempt. */
export const listSubscriptionHealth = (
  { store }: Pick<Deps, 'store'>,
  workspace: Workspace,
): Promise<readonly SubscriptionHealth[]> =>
  store.transaction(async (tx) => {
    const described: SubscriptionHealth[] = [];
    for (const subscription of await findActiveSubscriptions(tx, workspace.id))
      described.push({ subscription, lastFailure: await findLastFailure(tx, subscription) });
    return described;
  });

/** One subscription with its last failed attempt. @throws not_found (404) */
export const getSubscriptionHealth = (
  { store }: Pick<Deps, 'store'>,
  workspace: Workspace,
  id: string,
): Promise<SubscriptionHealth> =>
  store.transaction(async (tx) => {
    const subscription = await peekSubscription(tx, workspace, id);
    return { subscription, lastFailure: await findLastFailure(tx, subscription) };
  });

/** Deliveries read: one that was sent again may have failed later than newer ones. */
const DELIVERIES_READ = 10;

/** The last attempt that failed; null while the newest deliveries arrive. */
async function findLastFailure(tx: Tx, subscription: Subscription): Promise<Attempt | null> {
  if (subscription.consecutiveFailures === 0) return null;
  const { id: subscriptionId } = subscription;
  const newest = { direction: 'desc', limit: DELIVERIES_READ } as const;
  const recent = await tx.deliveries.find({ where: { subscriptionId }, ...newest });
  const failed = await tx.deliveries.find({
    where: { subscriptionId, status: 'failed' },
    ...newest,
  });
  const attempts = [...recent, ...failed].flatMap((delivery) => delivery.attempts);
  return attempts
    .filter(({ error }) => error !== null)
    .reduce<Attempt | null>(
      (last, each) => (last === null || each.at > last.at ? each : last),
      null,
    );
}
