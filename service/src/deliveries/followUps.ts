import { CATCH_UP_MS, RANK, wasMissed, wasTurnedAwaySince, type Delivery } from './delivery.ts';
import type { Deps } from '../platform/deps.ts';
import { requeueDelivery, type Round } from './operations/emit.ts';
import { FOLLOW_UP_QUEUE, isRemoved } from './subscription.ts';
import type { Job } from '../store/store.ts';
import { following, sumOfBatches } from '../platform/http/page.ts';
import { startWorker, type Work, type Worker } from '../platform/jobs/worker.ts';

/** Follow-ups of one workspace under way at once. */
const MAX_IN_FLIGHT = 4;
/** A follow-up that takes longer is started a second time, which does no harm. */
const LEASE_MS = 60_000;
/** A receiver may already turn deliveries away this long before it unsubscribes. */
const TURNED_AWAY_MS = 60 * 1000;
/** Deliveries read in one transaction, so that no other write waits long. */
const BATCH = 500;

/**
 * Follows up on removals and outages: deletes a subscription that nobody revived in time, sends again
 * what the receiver of a revived one turned away, and what a receiver missed in an outage.
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
    run: (job) => (job.data.task === 'end' ? endRemoved(deps, job) : sendAgain(deps, job)),
    onFailure: {
      message: 'the follow-up of a removal or an outage failed; it is tried again',
      idField: 'job',
    },
  });

/** Deletes a removed subscription, unless it was revived since this removal. */
const endRemoved = ({ store }: Deps, { id, data }: Job): Promise<void> =>
  store.transaction(async (tx) => {
    const subscription = await tx.subscriptions.get(String(data.subscriptionId));
    const isThisRemoval = subscription?.revision === data.revision;
    if (subscription && isThisRemoval && isRemoved(subscription))
      await tx.subscriptions.delete(subscription.id);
    await tx.jobs.complete(id);
  });

async function sendAgain(deps: Deps, { id, data }: Job): Promise<void> {
  const subscriptionId = String(data.subscriptionId);
  if (data.task === 'catch_up') await catchUp(deps, subscriptionId);
  else await resendTurnedAway(deps, subscriptionId, new Date(String(data.removedAt)));
  await deps.store.transaction((tx) => tx.jobs.complete(id));
}

/**
 * Sends again what a receiver turned away just before it unsubscribed: an n8n workflow that is
 * published again answers 404 or 401 for a moment. A second run finds nothing.
 */
export function resendTurnedAway(
  deps: Pick<Deps, 'store' | 'clock'>,
  subscriptionId: string,
  removedAt: Date,
): Promise<void> {
  const since = new Date(removedAt.getTime() - TURNED_AWAY_MS);
  return sendFailedAgain(deps, subscriptionId, {
    createdSince: null,
    isWanted: (delivery) => wasTurnedAwaySince(delivery, since),
    round: { trigger: 'automatic', isRepeat: false, rank: RANK.new },
  });
}

/**
 * Sends again, behind new events, the deliveries of the last day that failed in an outage and never
 * arrived. A second run finds nothing.
 */
const catchUp = (deps: Pick<Deps, 'store' | 'clock'>, subscriptionId: string): Promise<void> =>
  sendFailedAgain(deps, subscriptionId, {
    createdSince: new Date(deps.clock.now().getTime() - CATCH_UP_MS),
    isWanted: wasMissed,
    round: { trigger: 'catch_up', isRepeat: false, rank: RANK.behindNew },
  });

interface Selection {
  /** Null: deliveries of any age. */
  readonly createdSince: Date | null;
  readonly isWanted: (delivery: Delivery) => boolean;
  readonly round: Round;
}

/** Works from the newest batch to the oldest, so that it can stop at `createdSince`. */
async function sendFailedAgain(
  deps: Pick<Deps, 'store' | 'clock'>,
  subscriptionId: string,
  { createdSince, isWanted, round }: Selection,
): Promise<void> {
  const where = { subscriptionId, status: 'failed' } as const;
  const sinceMs = createdSince?.getTime() ?? -Infinity;
  await sumOfBatches(deps, async (tx, from) => {
    const failed = await tx.deliveries.find({ where, direction: 'desc', limit: BATCH, ...from });
    const recent = failed.filter(({ createdAt }) => Date.parse(createdAt) >= sinceMs);
    const wanted = recent.filter(isWanted).toReversed();
    for (const delivery of wanted) await requeueDelivery(tx, delivery, round, deps.clock.now());
    return { result: wanted.length, next: following(recent, BATCH) };
  });
}
