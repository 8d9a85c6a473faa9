import { timestamp } from '../clock.ts';
import type { Delivery } from '../delivery.ts';
import type { Deps } from '../deps.ts';
import { queueDelivery } from '../emitEvent.ts';
import { newId } from '../ids.ts';
import { samplePayload } from '../samples.ts';
import type { Workspace } from '../workspace.ts';
import { peekSubscription } from './loadSubscription.ts';

/**
 * Owes a subscription a sample of its event, signed and delivered as a real one.
 * @returns the pending delivery
 * @throws not_found (404)
 */
export const sendTestEvent = (
  { store, clock }: Deps,
  workspace: Workspace,
  subscriptionId: string,
) =>
  store.transaction(async (tx): Promise<Delivery> => {
    const now = clock.now();
    const subscription = await peekSubscription(tx, workspace, subscriptionId);
    const id = newId('evt');
    const event = {
      id,
      workspaceId: workspace.id,
      name: subscription.event,
      conversationId: null,
      body: JSON.stringify({ ...samplePayload(subscription.event, workspace, now), id }),
      createdAt: timestamp(now),
    };
    await tx.events.put(event);
    return queueDelivery(tx, event, subscription.id, now);
  });
