import { encodeTime } from 'ulid';
import type { Deps } from '../deps.ts';
import { lineageOf } from '../subscription.ts';
import type { Workspace } from '../workspace.ts';
import { loadSubscription } from './loadSubscription.ts';
import { sendAgain } from './redeliver.ts';

/** Queued in one transaction; more than this many wait for the next, so that no other write waits long. */
const BATCH = 500;

/**
 * Sends again every delivery since a time that failed and never succeeded; what is pending is left
 * alone. The same event ids go out, and a receiver that has taken one after all (its answer was lost)
 * may drop it. Recovering twice, at once or after a crash, queues nothing twice.
 * @returns how many this call has queued
 * @throws not_found (404)
 */
export async function recoverDeliveries(
  { store, clock }: Deps,
  workspace: Workspace,
  id: string,
  since: Date,
): Promise<number> {
  let queued = 0;
  let after = firstIdAt(since);
  for (;;) {
    const batch = await store.transaction(async (tx) => {
      const subscriptionId = lineageOf(await loadSubscription(tx, workspace, id));
      const failed = await tx.deliveries.find({
        where: { subscriptionId, status: 'failed' },
        after: { value: after },
        limit: BATCH,
      });
      for (const delivery of failed) await sendAgain(tx, delivery, { isRepeat: false }, clock.now());
      return failed;
    });
    queued += batch.length;
    if (batch.length < BATCH) return queued;
    after = batch.at(-1)!.id;
  }
}

/** Ids sort by time: the least one of a millisecond. */
const firstIdAt = (since: Date): string => `dlv_${encodeTime(Math.max(0, since.getTime()), 10)}`;
