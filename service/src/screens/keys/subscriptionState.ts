import type { SubscriptionHealth } from '../../domain/operations/listSubscriptionHealth.ts';
import type { SealedSecret } from '../../domain/subscription.ts';
import { html, type View } from '../html.ts';
import { exactTime, timeView } from '../times.ts';
import { failureView, stateBadge } from './state.ts';

/** Where a subscription sends, whose it is and how it fares. */
export const subscriptionState = (
  { subscription, lastFailure }: SubscriptionHealth,
  now: Date,
): View => html`
  <dl class="keys-facts">
    <dt>State</dt><dd>${stateBadge(subscription)}</dd>
    <dt>Target</dt><dd><bdi>${subscription.targetUrl}</bdi></dd>
    <dt>Source</dt><dd>${subscription.source === '' ? 'not given' : html`<bdi>${subscription.source}</bdi>`}</dd>
    <dt>Created</dt><dd>${timeView(subscription.createdAt, now)}</dd>
    <dt>Last delivery</dt><dd>${subscription.lastDeliveryAt === null ? 'nothing sent yet' : timeView(subscription.lastDeliveryAt, now)}</dd>
    ${replacedSecret(subscription.secrets, now)}
  </dl>
  ${failureView(subscription, lastFailure, now)}
`;

function replacedSecret(secrets: readonly SealedSecret[], now: Date): View {
  const ends = secrets.flatMap(({ expiresAt }) =>
    expiresAt !== null && Date.parse(expiresAt) > now.getTime() ? [expiresAt] : [],
  );
  if (ends.length === 0) return null;
  // The one that was replaced last comes first, and signs longest.
  return ends.length === 1
    ? html`<dt>Replaced secret</dt><dd>signs too until ${exactTime(ends[0]!)}</dd>`
    : html`<dt>Replaced secrets</dt><dd>${ends.length} sign too, the last until ${exactTime(ends[0]!)}</dd>`;
}
