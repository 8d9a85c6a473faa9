import type { SubscriptionHealth } from '../../domain/operations/listSubscriptionHealth.ts';
import { MAX_SUBSCRIPTIONS, type Subscription } from '../../domain/subscription.ts';
import { html, type View } from '../html.ts';
import { timeView } from '../times.ts';
import { failureView, stateBadge } from './state.ts';

/** How many of 25 there are, by source, and each one with its state. */
export const subscriptionsList = (all: readonly SubscriptionHealth[], now: Date): View => html`
  <p><strong>${all.length} of ${MAX_SUBSCRIPTIONS}</strong>${all.length === 0 ? '. Publish a workflow in n8n, and its subscriptions appear here.' : html`: ${bySource(all)}`}</p>
  ${all.length === 0 ? null : html`<ul class="keys-records">${all.map((each) => subscriptionItem(each, now))}</ul>`}
`;

function bySource(all: readonly SubscriptionHealth[]): View {
  const groups = [...Map.groupBy(all, ({ subscription }) => subscription.source)];
  return groups.map(
    ([source, { length }], index) =>
      html`${index === 0 ? '' : ', '}${length} ${fromSource(source)}`,
  );
}

const fromSource = (source: string): View =>
  source === '' ? 'without a source' : html`from <bdi>${source}</bdi>`;

const subscriptionItem = (
  { subscription, lastFailure }: SubscriptionHealth,
  now: Date,
): View => html`
  <li>
    <div class="what">
      <p><a id=${subscription.id} href=${`/keys/subscriptions/${subscription.id}`}><strong>${subscription.event}</strong></a>${' '}${stateBadge(subscription)}</p>
      <p class="keys-target"><bdi>${subscription.targetUrl}</bdi></p>
      <p class="muted">${capital(fromSource(subscription.source))}, ${lastDelivery(subscription, now)}</p>
      ${failureView(subscription, lastFailure, now)}
    </div>
  </li>
`;

const capital = (view: View): View =>
  typeof view === 'string'
    ? `${view[0]!.toUpperCase()}${view.slice(1)}`
    : html`<span class="keys-capital">${view}</span>`;

const lastDelivery = ({ lastDeliveryAt }: Subscription, now: Date): View =>
  lastDeliveryAt === null
    ? 'nothing sent yet'
    : html`last delivery ${timeView(lastDeliveryAt, now)}`;
