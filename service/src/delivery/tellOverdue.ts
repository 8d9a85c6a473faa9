import type { Logger } from 'pino';
import { DELIVERY_QUEUE } from '../domain/delivery.ts';
import type { ServiceStore } from '../domain/collections.ts';

/**
 * Logs at a start how many deliveries are late, and that some may arrive twice. A process that died
 * during an attempt has left no other trace of it.
 * @see docs/decisions/0024
 */
export async function tellOverdue(store: Pick<ServiceStore, 'stats'>, log: Logger): Promise<void> {
  const queue = (await store.stats()).queues[DELIVERY_QUEUE];
  if (queue === undefined || queue.oldestDueMs === null) return;
  log.info(
    { deliveries: queue.due, late_seconds: Math.round(queue.oldestDueMs / 1000) },
    'deliveries became due before this start and are sent now; what was under way when a process ended may arrive a second time, with the same id',
  );
}
