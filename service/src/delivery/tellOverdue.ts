import type { Logger } from 'pino';
import { DELIVERY_QUEUE } from '../domain/delivery.ts';
import type { ServiceStore } from '../domain/collections.ts';
import { findVacantLineages } from '../domain/operations/findVacantLineages.ts';
import { limitedBy } from '../domain/workGroup.ts';

/**
 * Says at a start how many deliveries are late, and that some may come twice: an attempt that was
 * under way when the process died has left no other trace. What waits for its time, or for a
 * removed subscription's successor, is not late.
 * @see decision 0024
 */
export async function tellOverdue(
  store: Pick<ServiceStore, 'stats' | 'transaction'>,
  log: Logger,
): Promise<void> {
  const vacant = await findVacantLineages({ store });
  const queue = (await store.stats((_queue, group) => vacant.has(limitedBy(group)))).queues[
    DELIVERY_QUEUE
  ];
  if (queue === undefined || queue.oldestDueMs === null) return;
  const about = { deliveries: queue.due, late_seconds: Math.round(queue.oldestDueMs / 1000) };
  log.info(
    about,
    'deliveries became due before this start and are sent now; what was under way when a process ended may arrive a second time, with the same id',
  );
}
