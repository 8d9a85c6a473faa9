import { Gauge, type Registry } from 'prom-client';
import type { ServiceStore } from '../domain/collections.ts';
import { countSubscriptions } from '../domain/operations/countSubscriptions.ts';
import { StoreUnavailable } from '../store/store.ts';

/**
 * How many subscriptions there are, and how many are flagged as failing. During an outage of the
 * store the last figures stand.
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
        const { active, failing } = await countSubscriptions({ store });
        this.set({ status: 'active' }, active);
        this.set({ status: 'failing' }, failing);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
      }
    },
  });
}
