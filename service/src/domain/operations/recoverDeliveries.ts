import { hasFailedSince } from '../delivery.ts';
import type { Deps } from '../deps.ts';
import type { Workspace } from '../workspace.ts';
import { peekSubscription } from './loadSubscription.ts';
import { sendAgain } from './redeliver.ts';

/** Read in one transaction, so that no other write waits long. */
const BATCH = 500;

/**
 * Sends again every delivery that failed since a time and never succeeded; what is pending is left
 * alone. The time is that of the failure; the event may be older. The same event ids go out, and a
 * receiver that has taken one after all (its answer was lost) may drop it. Recovering twice, at once
 * or after a crash, queues nothing twice.
 * @returns how many deliveries this call queued
 * @throws not_found (404)
 */
export async function recoverDeliveries(
  { store, clock }: Deps,
  workspace: Workspace,
  subscriptionId: string,
  since: Date,
): Promise<number> {
  let queued = 0;
  let after: { value: string } | undefined;
  do {
    const from = after ? { after } : {};
    const batch = await store.transaction(async (tx) => {
      await peekSubscription(tx, workspace, subscriptionId);
      const failed = await tx.deliveries.find({
        where: { subscriptionId, status: 'failed' },
        limit: BATCH,
        ...from,
      });
      const wanted = failed.filter((each) => hasFailedSince(each, since));
      for (const delivery of wanted)
        await sendAgain(tx, delivery, { isRepeat: false }, clock.now());
      return { queued: wanted.length, last: failed.length === BATCH ? failed.at(-1)!.id : null };
    });
    queued += batch.queued;
    after = batch.last === null ? undefined : { value: batch.last };
  } while (after);
  return queued;
}
