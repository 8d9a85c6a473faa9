import type { TestService } from '../../helpers/service.ts';
import { waitFor } from '../../helpers/waitFor.ts';

type Api = Pick<TestService, 'api'>;

export interface ShownDelivery {
  readonly id: string;
  readonly event_id: string;
  readonly event: string;
  readonly status: string;
  readonly attempts: readonly { readonly trigger: string }[];
}

/** The newest 200 deliveries of a subscription, newest first. */
export const deliveriesOf = async ({ api }: Api, hook: string): Promise<ShownDelivery[]> =>
  (await api.get(`/api/hooks/${hook}/deliveries?limit=200`)).body.data;

/** Waits until a subscription has deliveries, none of which is pending. */
export const settledDeliveries = (service: Api, hook: string): Promise<ShownDelivery[]> =>
  waitFor('all deliveries to finish', async () => {
    const all = await deliveriesOf(service, hook);
    return all.length > 0 && all.every(({ status }) => status !== 'pending') && all;
  });
