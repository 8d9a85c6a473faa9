import type { SubscriptionHealth } from '../../domain/operations/subscriptions.ts';
import { MAX_SUBSCRIPTIONS } from '../../domain/subscription.ts';
import { html, type View } from '../html.ts';
import { timeView } from '../times.ts';
import { failureView, stateBadge } from './subscriptionState.ts';

/** How many subscriptions there are, by source, and each with its state. */
export const subscriptionsList = (all: readonly SubscriptionHealth[], now: Date): View => html`
  <p><strong>${all.length} of ${MAX_SUBSCRIPTIONS}</strong>${all.length === 0 ? '. Publish a workflow in n8n to see its subscriptions here.' : html`: ${bySource(all)}`}</p>
  ${all.length === 0 ? null : html`<ul class="records">${all.map((each) => subscriptionItem(each, now))}</ul>`}
`;

function bySource(all: readonly SubscriptionHealth[]): View {
  const groups = [...Map.groupBy(all, ({ subscription }) => subscription.source)];
  return groups.map(
    ([source, { length }], index) =>
      html`${index === 0 ? '' : ', '}${length} ${source === '' ? 'without a source' : html`from <bdi>${source}</bdi>`}`,
  );
}

const subscriptionItem = (
  { subscription, lastFailure }: SubscriptionHealth,
  now: Date,
): View => html`
  <li>
    <div class="what">
      <p><a id=${subscription.id} href=${`/keys/subscriptions/${subscription.id}`}><strong>${subscription.event}</strong></a>${' '}${stateBadge(subscription)}</p>
      <p class="url"><bdi>${subscription.targetUrl}</bdi></p>
      <p class="muted">
        ${subscription.source === '' ? 'Without a source' : html`From <bdi>${subscription.source}</bdi>`},${' '}
        ${subscription.lastDeliveryAt === null ? 'no deliveries yet' : html`last delivery ${timeView(subscription.lastDeliveryAt, now)}`}
      </p>
      ${failureView(subscription, lastFailure, now)}
    </div>
  </li>
`;
