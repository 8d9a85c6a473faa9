import type { Deps } from '../../platform/deps.ts';
import { notFound } from '../../platform/http/errorCatalogue.ts';
import type { Tx } from '../../store/collections.ts';
import type { Workspace } from '../../team/index.ts';
import type { Delivery } from '../delivery.ts';
import type { Event } from '../event.ts';
import { curlCommand, requestHeaders, stampRequest } from '../request.ts';
import { openSecrets, type Subscription } from '../subscription.ts';
import { isAboutForgotten, withoutForgotten } from './forgotten.ts';
import { findActiveSubscriptions, peekSubscription } from './subscriptions.ts';

/** A delivery, what it sends, and where. */
export interface DeliveryDetails {
  readonly delivery: Delivery;
  readonly subscription: Subscription;
  /** Null once retention has removed it. */
  readonly event: Event | null;
}

/** @throws not_found (404) */
export const getDeliveryDetails = (
  { store }: Pick<Deps, 'store'>,
  workspace: Workspace,
  subscriptionId: string,
  deliveryId: string,
): Promise<DeliveryDetails> =>
  store.transaction(async (tx) => {
    const subscription = await peekSubscription(tx, workspace, subscriptionId);
    const delivery = await tx.deliveries.peek(deliveryId);
    if (delivery?.subscriptionId !== subscriptionId) throw notFound('delivery', deliveryId);
    const event = await tx.events.peek(delivery.eventId);
    if (event && (await isAboutForgotten(tx, event))) throw notFound('delivery', deliveryId);
    return { delivery, subscription, event };
  });

export type FoundDelivery = Pick<DeliveryDetails, 'delivery' | 'subscription'>;

/**
 * Finds a delivery by its own id, or all deliveries of an event. Those of removed subscriptions and
 * those about a forgotten contact are not found.
 */
export const findDeliveries = (
  { store }: Pick<Deps, 'store'>,
  workspace: Workspace,
  id: string,
): Promise<readonly FoundDelivery[]> =>
  store.transaction(async (tx) => {
    const found: FoundDelivery[] = [];
    const byId = id.startsWith('dlv_') ? await tx.deliveries.peek(id) : null;
    for (const subscription of await findActiveSubscriptions(tx, workspace.id)) {
      const ofEvent = id.startsWith('evt_') ? await deliveriesOf(tx, subscription, id) : [];
      const matching = byId?.subscriptionId === subscription.id ? [byId] : ofEvent;
      for (const delivery of await withoutForgotten(tx, matching))
        found.push({ delivery, subscription });
    }
    return found;
  });

const deliveriesOf = (tx: Tx, { id: subscriptionId }: Subscription, eventId: string) =>
  tx.deliveries.find({ where: { subscriptionId, eventId }, limit: 1 });

/** The ids of the conversations that these deliveries are about, by event id. */
export const conversationsOf = (
  { store }: Pick<Deps, 'store'>,
  deliveries: readonly Delivery[],
): Promise<ReadonlyMap<string, string>> =>
  store.transaction(async (tx) => {
    const events = await Promise.all(deliveries.map(({ eventId }) => tx.events.peek(eventId)));
    return new Map(
      events.flatMap((event) =>
        event === null || event.conversationId === null
          ? []
          : [[event.id, event.conversationId] as const],
      ),
    );
  });

/**
 * A delivery as a command that sends it once more, signed now with the secrets of its subscription.
 * @returns null once retention has removed the event
 * @throws not_found (404)
 */
export async function signAsCurl(
  deps: Pick<Deps, 'store' | 'clock' | 'secrets'>,
  workspace: Workspace,
  subscriptionId: string,
  deliveryId: string,
): Promise<string | null> {
  const { event, subscription } = await getDeliveryDetails(
    deps,
    workspace,
    subscriptionId,
    deliveryId,
  );
  if (event === null) return null;
  const now = deps.clock.now();
  const secrets = openSecrets(subscription, deps.secrets, now);
  const headers = requestHeaders(event, stampRequest(event, secrets, now, null));
  return curlCommand(subscription.targetUrl, headers, event.body);
}
