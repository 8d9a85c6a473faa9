import type { Logger } from 'pino';
import type { ServiceStore } from '../store/collections.ts';
import { requeue, wasTurnedAwaySince } from './delivery.ts';
import type { Deps } from '../platform/deps.ts';
import { enqueueDelivery } from './operations/emit.ts';
import { isRemoved, REMOVAL_QUEUE } from './subscription.ts';
import type { Job } from '../store/store.ts';
import { startWorker, type Worker } from '../platform/jobs/worker.ts';

/** Removals of one workspace under way at once. */
const MAX_IN_FLIGHT = 4;
/** Work that takes longer starts again, which does no harm. */
const LEASE_MS = 60_000;
/** A receiver may turn deliveries away for this long before it unsubscribes. */
const TURNED_AWAY_MS = 60 * 1000;
/** Deliveries read in one transaction, so that no other write waits long. */
const BATCH = 500;

/**
 * Follows up on removals: deletes a subscription that nobody revived in time, or resends what the
 * receiver of a revived one turned away.
 * @see docs/decisions/0022-a-removed-subscription-can-be-revived.md
 */
export const startRemovals = ({
  store,
  deps,
  log,
}: {
  store: ServiceStore;
  deps: Deps;
  log: Logger;
}): Worker =>
  startWorker({
    store,
    log,
    queue: REMOVAL_QUEUE,
    maxPerWorkspace: MAX_IN_FLIGHT,
    leaseMs: LEASE_MS,
    run: (job) => (job.data.task === 'end' ? endRemoved(deps, job) : resend(deps, job)),
    onFailure: {
      message: 'the follow-up of a removed subscription failed; it is tried again',
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

async function resend(deps: Deps, { id, data }: Job): Promise<void> {
  await resendTurnedAway(deps, String(data.subscriptionId), new Date(String(data.removedAt)));
  await deps.store.transaction((tx) => tx.jobs.complete(id));
}

/**
 * Sends again what a receiver turned away around its removal: a workflow that is being published
 * answers 404 or 401 a moment before it unsubscribes. A second run finds nothing.
 */
export async function resendTurnedAway(
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  subscriptionId: string,
  removedAt: Date,
): Promise<void> {
  const since = new Date(removedAt.getTime() - TURNED_AWAY_MS);
  let cursor: { value: string } | undefined;
  do {
    cursor = await store.transaction(async (tx) => {
      const failed = await tx.deliveries.find({
        where: { subscriptionId, status: 'failed' },
        direction: 'desc',
        limit: BATCH,
        ...(cursor ? { after: cursor } : {}),
      });
      for (const delivery of failed.filter((each) => wasTurnedAwaySince(each, since))) {
        const again = requeue(delivery, { trigger: 'automatic', isRepeat: false }, clock.now());
        await tx.deliveries.put(again);
        await enqueueDelivery(tx, again, clock.now().getTime(), 0);
      }
      return failed.length === BATCH ? { value: failed.at(-1)!.id } : undefined;
    });
  } while (cursor);
}
