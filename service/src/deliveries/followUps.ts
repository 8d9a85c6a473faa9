import type { Tx } from '../store/collections.ts';
import { CATCH_UP_MS, requeue, wasMissed, wasTurnedAwaySince, type Delivery } from './delivery.ts';
import type { Deps } from '../platform/deps.ts';
import { enqueueDelivery } from './operations/emit.ts';
import { FOLLOW_UP_QUEUE, isRemoved } from './subscription.ts';
import type { Job } from '../store/store.ts';
import { startWorker, type Work, type Worker } from '../platform/jobs/worker.ts';

/** Follow-ups of one workspace under way at once. */
const MAX_IN_FLIGHT = 4;
/** Work that takes longer starts again, which does no harm. */
const LEASE_MS = 60_000;
/** A receiver may turn deliveries away for this long before it unsubscribes. */
const TURNED_AWAY_MS = 60 * 1000;
/** Deliveries read in one transaction, so that no other write waits long. */
const BATCH = 500;

/**
 * Follows up on removals and outages: deletes a subscription that nobody revived in time, resends
 * what the receiver of a revived one turned away, and what a receiver missed while it was away.
 * @see docs/decisions/0022-a-removed-subscription-can-be-revived.md
 * @see docs/decisions/0040-catching-up-after-an-outage.md
 */
export const startFollowUps = ({ deps, log }: Work): Worker =>
  startWorker({
    deps,
    log,
    queue: FOLLOW_UP_QUEUE,
    maxPerWorkspace: MAX_IN_FLIGHT,
    leaseMs: LEASE_MS,
    run: (job) => (job.data.task === 'end' ? endRemoved(deps, job) : sendMore(deps, job)),
    onFailure: {
      message: 'the follow-up of a removal or an outage failed; it is tried again',
      idField: 'job',
    },
  });

/** Ends a removed subscription, unless it was revived since this removal. */
const endRemoved = ({ store }: Deps, { id, data }: Job): Promise<void> =>
  store.transaction(async (tx) => {
    const subscription = await tx.subscriptions.get(String(data.subscriptionId));
    const isThisRemoval = subscription?.revision === data.revision;
    if (subscription && isThisRemoval && isRemoved(subscription))
      await tx.subscriptions.delete(subscription.id);
    await tx.jobs.complete(id);
  });

async function sendMore(deps: Deps, { id, data }: Job): Promise<void> {
  const subscriptionId = String(data.subscriptionId);
  if (data.task === 'catch_up') await catchUp(deps, subscriptionId);
  else await resendTurnedAway(deps, subscriptionId, new Date(String(data.removedAt)));
  await deps.store.transaction((tx) => tx.jobs.complete(id));
}

/**
 * Sends again what a receiver turned away around its removal: a workflow that is being published
 * answers 404 or 401 a moment before it unsubscribes. A second run finds nothing.
 */
export function resendTurnedAway(
  deps: Pick<Deps, 'store' | 'clock'>,
  subscriptionId: string,
  removedAt: Date,
): Promise<void> {
  const since = new Date(removedAt.getTime() - TURNED_AWAY_MS);
  return forFailed(deps, subscriptionId, null, async (tx, delivery) => {
    if (!wasTurnedAwaySince(delivery, since)) return;
    await send(tx, delivery, { trigger: 'automatic', rank: 0 }, deps.clock.now());
  });
}

/**
 * Sends again, behind fresh events, the deliveries of the last day that failed for an outage and never
 * arrived. A second run finds nothing.
 */
export function catchUp(
  deps: Pick<Deps, 'store' | 'clock'>,
  subscriptionId: string,
): Promise<void> {
  const since = new Date(deps.clock.now().getTime() - CATCH_UP_MS);
  return forFailed(deps, subscriptionId, since, async (tx, delivery) => {
    if (!wasMissed(delivery)) return;
    await send(tx, delivery, { trigger: 'catch_up', rank: 1 }, deps.clock.now());
  });
}

async function send(
  tx: Tx,
  delivery: Delivery,
  { trigger, rank }: { trigger: Delivery['trigger']; rank: number },
  now: Date,
): Promise<void> {
  const again = requeue(delivery, { trigger, isRepeat: false }, now);
  await tx.deliveries.put(again);
  await enqueueDelivery(tx, again, now.getTime(), rank);
}

/**
 * Visits the failed deliveries of a subscription, the newest batch first, and in a batch the oldest
 * first.
 * @param createdSince null: all
 */
async function forFailed(
  { store }: Pick<Deps, 'store'>,
  subscriptionId: string,
  createdSince: Date | null,
  visit: (tx: Tx, delivery: Delivery) => Promise<void>,
): Promise<void> {
  const sinceMs = createdSince?.getTime() ?? -Infinity;
  let cursor: { value: string } | undefined;
  do {
    cursor = await store.transaction(async (tx) => {
      const failed = await tx.deliveries.find({
        where: { subscriptionId, status: 'failed' },
        direction: 'desc',
        limit: BATCH,
        ...(cursor ? { after: cursor } : {}),
      });
      const recent = failed.filter(({ createdAt }) => Date.parse(createdAt) >= sinceMs);
      for (const delivery of recent.toReversed()) await visit(tx, delivery);
      return recent.length === BATCH ? { value: failed.at(-1)!.id } : undefined;
    });
  } while (cursor);
}
