import type { Tx } from '../../store/collections.ts';
import { hasNotArrived, type Attempt, type Delivery } from '../delivery.ts';
import type { Deps } from '../../platform/deps.ts';
import { notFound } from '../../platform/http/errorCatalogue.ts';
import { following, pageOf, type From, type PageRequest } from '../../platform/http/page.ts';
import {
  isRemoved,
  MAX_REMOVED_SUBSCRIPTIONS,
  MAX_SUBSCRIPTIONS,
  type Subscription,
} from '../subscription.ts';
import type { Workspace } from '../../team/index.ts';

/**
 * A subscription to change. It is locked until the transaction ends.
 * @throws not_found (404), also for a removed one and another workspace's
 */
export const loadSubscription = async (
  tx: Tx,
  workspace: Workspace,
  id: string,
): Promise<Subscription> => activeOf(workspace, id, await tx.subscriptions.get(id));

/**
 * A subscription to read, without a lock.
 * @throws not_found (404), also for a removed one and another workspace's
 */
export const peekSubscription = async (
  tx: Tx,
  workspace: Workspace,
  id: string,
): Promise<Subscription> => activeOf(workspace, id, await tx.subscriptions.peek(id));

function activeOf(workspace: Workspace, id: string, found: Subscription | null): Subscription {
  if (found?.workspaceId === workspace.id && !isRemoved(found)) return found;
  throw notFound('subscription', id);
}

/** All subscriptions of a workspace, newest first, with the removed ones that are still kept. */
export const findSubscriptions = (tx: Tx, workspaceId: string): Promise<readonly Subscription[]> =>
  tx.subscriptions.find({
    where: { workspaceId },
    direction: 'desc',
    limit: MAX_SUBSCRIPTIONS + MAX_REMOVED_SUBSCRIPTIONS,
  });

/** The subscriptions of a workspace that are not removed, paused ones included, newest first. */
export const findActiveSubscriptions = async (
  tx: Tx,
  workspaceId: string,
): Promise<readonly Subscription[]> =>
  (await findSubscriptions(tx, workspaceId)).filter((each) => !isRemoved(each));

/** A page of the workspace's subscriptions, newest first. */
export const listSubscriptions = ({ store }: Deps, workspace: Workspace, page: PageRequest) =>
  store.transaction(async (tx) => {
    const all = await findActiveSubscriptions(tx, workspace.id);
    return pageOf(page, async ({ limit, after }) =>
      all.filter(({ id }) => after === undefined || id < after.id).slice(0, limit),
    );
  });

/** A subscription, with its last failure and what has not arrived. */
export interface SubscriptionHealth {
  readonly subscription: Subscription;
  /** Null unless the newest deliveries fail. */
  readonly lastFailure: Attempt | null;
  /** How many deliveries failed and never arrived: counted to `MAX_UNDELIVERED`, in lists to 1. */
  readonly undelivered: number;
}

/** How far the page of a subscription counts. */
export const MAX_UNDELIVERED = 100;

/** The health of every subscription of the workspace, newest first. */
export const listSubscriptionHealth = (
  { store }: Pick<Deps, 'store'>,
  workspace: Workspace,
): Promise<readonly SubscriptionHealth[]> =>
  store.transaction(async (tx) => {
    const described: SubscriptionHealth[] = [];
    for (const subscription of await findActiveSubscriptions(tx, workspace.id))
      described.push(await healthOf(tx, subscription, { countTo: 1 }));
    return described;
  });

/** The health of one subscription. @throws not_found (404) */
export const getSubscriptionHealth = (
  { store }: Pick<Deps, 'store'>,
  workspace: Workspace,
  id: string,
): Promise<SubscriptionHealth> =>
  store.transaction(async (tx) => {
    const subscription = await peekSubscription(tx, workspace, id);
    return healthOf(tx, subscription, { countTo: MAX_UNDELIVERED });
  });

const healthOf = async (
  tx: Tx,
  subscription: Subscription,
  { countTo }: { readonly countTo: number },
): Promise<SubscriptionHealth> => {
  const undelivered = await countUndelivered(tx, subscription, countTo);
  return { subscription, lastFailure: await findLastFailure(tx, subscription), undelivered };
};

/** Reads more only where failed test events, which do not count, are among the first. */
async function countUndelivered(tx: Tx, { id }: Subscription, max: number): Promise<number> {
  const where = { subscriptionId: id, status: 'failed' } as const;
  let count = 0;
  let limit = max;
  let from: From | null = {};
  while (from !== null && count < max) {
    const failed: readonly Delivery[] = await tx.deliveries.find({ where, limit, ...from });
    count += failed.filter(hasNotArrived).length;
    from = following(failed, limit);
    limit = MAX_UNDELIVERED;
  }
  return Math.min(count, max);
}

/** More than one is read: a delivery that was sent again may have failed after newer ones. */
const DELIVERIES_READ = 10;

/** The last attempt that failed; null when the last delivery arrived. */
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
