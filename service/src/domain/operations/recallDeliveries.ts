import type { Deps } from '../deps.ts';
import { requeue, wasNotFoundSince } from '../delivery.ts';
import { enqueueDelivery } from '../emitEvent.ts';
import { TAKEN_DOWN_MS } from '../retiredSubscription.ts';

/** Looked at in one transaction, so that no other write waits long. */
const BATCH = 500;

/**
 * Sends again what met a receiver that was being taken down: a receiver that unsubscribes may
 * answer 404 a moment before it says so. What failed so within the minute before the removal waits
 * for the successor. Done twice, it finds nothing the second time.
 * @param removedAt when the subscription was removed
 * @see decision 0022
 */
export async function recallDeliveries(
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  lineageId: string,
  removedAt: Date,
): Promise<void> {
  const since = new Date(removedAt.getTime() - TAKEN_DOWN_MS);
  let before: { value: string } | undefined;
  do {
    before = await store.transaction(async (tx) => {
      const where = { subscriptionId: lineageId, status: 'failed' } as const;
      const failed = await tx.deliveries.find({
        where,
        direction: 'desc',
        limit: BATCH,
        ...(before ? { after: before } : {}),
      });
      for (const delivery of failed.filter((each) => wasNotFoundSince(each, since))) {
        const again = requeue(delivery, { trigger: 'automatic', isRepeat: false }, clock.now());
        await tx.deliveries.put(again);
        await enqueueDelivery(tx, again, clock.now().getTime(), 0);
      }
      return failed.length === BATCH ? { value: failed.at(-1)!.id } : undefined;
    });
  } while (before);
}
