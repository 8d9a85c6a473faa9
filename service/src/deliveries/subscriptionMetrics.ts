import { Gauge, type Registry } from 'prom-client';
import type { ServiceStore } from '../store/collections.ts';
import { following, inBatches } from '../platform/http/page.ts';
import { findActiveSubscriptions } from './operations/subscriptions.ts';
import { subscriptionStatus } from './subscription.ts';
import { StoreUnavailable } from '../store/store.ts';

/** How many workspaces are read in one transaction. */
const BATCH = 100;

/**
 * Counts active and failing subscriptions. While the store is unavailable, the last counts stay.
 */
export function watchSubscriptions(
  registry: Registry,
  store: Pick<ServiceStore, 'transaction'>,
): void {
  new Gauge({
    name: 'conversation_service_subscriptions',
    help: 'Subscriptions, by status; failing: the last five deliveries or more have all failed.',
    labelNames: ['status'],
    registers: [registry],
    async collect() {
      try {
        const { active, failing } = await countSubscriptions(store);
        this.set({ status: 'active' }, active);
        this.set({ status: 'failing' }, failing);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
      }
    },
  });
}

/** How many subscriptions all workspaces have, by status. */
async function countSubscriptions(
  store: Pick<ServiceStore, 'transaction'>,
): Promise<{ active: number; failing: number }> {
  const batches = inBatches({ store }, async (tx, from) => {
    const workspaces = await tx.workspaces.find({ where: {}, limit: BATCH, ...from });
    const found = [];
    for (const { id } of workspaces) found.push(...(await findActiveSubscriptions(tx, id)));
    return { result: found.map(subscriptionStatus), next: following(workspaces, BATCH) };
  });
  const counts = { active: 0, failing: 0 };
  for await (const statuses of batches) for (const status of statuses) counts[status] += 1;
  return counts;
}
