import { attemptsMade, type Delivery, type DeliveryStatus } from '../../domain/delivery.ts';
import type { SignedIn } from '../../domain/operations/findSession.ts';
import type { Page } from '../../domain/page.ts';
import { html, type View } from '../html.ts';
import { csrfField } from '../layout.ts';
import { ago, exactTime, timeView } from '../times.ts';
import { attemptsList } from './attemptsList.ts';
import { addressOf, type DeliveriesView } from './deliveriesView.ts';

/** A page of one subscription's deliveries. */
export interface DeliveriesPage {
  readonly subscriptionId: string;
  readonly deliveries: Page<Delivery>;
  readonly view: DeliveriesView;
  readonly now: Date;
}

/** Newest first; each opens to its attempts. */
export const deliveriesList = (
  signedIn: SignedIn,
  { subscriptionId, deliveries: { items, nextCursor }, view, now }: DeliveriesPage,
): View => html`
  ${
    items.length === 0
      ? html`<p class="muted">${emptyInWords(view)}</p>`
      : html`<div class="keys-deliveries">${items.map((delivery) => deliveryItem(signedIn, subscriptionId, delivery, view, now))}</div>`
  }
  ${
    view.cursor === undefined && nextCursor === null
      ? null
      : html`
        <nav class="keys-pages" aria-label="Pages of deliveries">
          ${view.cursor === undefined ? null : html`<a id="newest" href=${addressOf(subscriptionId, { status: view.status })}>Newest</a>`}
          ${nextCursor === null ? null : html`<a id="older" href=${addressOf(subscriptionId, { status: view.status, cursor: nextCursor })}>Older</a>`}
        </nav>
      `
  }
`;

const NONE: Readonly<Record<DeliveryStatus, string>> = {
  pending: 'No delivery is waiting.',
  delivered: 'No delivery has arrived.',
  failed: 'No delivery has failed for good.',
  cancelled: 'No delivery was cancelled.',
};

const emptyInWords = ({ status, cursor }: DeliveriesView): string => {
  if (cursor !== undefined) return 'There are no older ones.';
  return status === undefined
    ? 'Nothing has been sent yet. Send a test event to see whether it arrives.'
    : NONE[status];
};

const BADGES: Readonly<Record<DeliveryStatus, { label: string; tone: string }>> = {
  pending: { label: 'Pending', tone: '' },
  delivered: { label: 'Delivered', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  cancelled: { label: 'Cancelled', tone: '' },
};

const deliveryItem = (
  signedIn: SignedIn,
  subscriptionId: string,
  delivery: Delivery,
  view: DeliveriesView,
  now: Date,
): View => html`
  <details id=${delivery.id} open=${view.open === delivery.id}>
    <summary id=${`summary-${delivery.id}`}>
      <span class=${`badge ${BADGES[delivery.status].tone}`}>${BADGES[delivery.status].label}</span>
      <span class="when">${timeView(delivery.createdAt, now)}</span>
      <span class="why muted">${outcomeInWords(delivery, now)}</span>
    </summary>
    <p class="muted">Event <code>${delivery.eventId}</code>, delivery <code>${delivery.id}</code>, made ${exactTime(delivery.createdAt)}</p>
    ${attemptsList(delivery)}
    ${delivery.status === 'pending' ? null : sendAgainForm(signedIn, subscriptionId, delivery, view)}
  </details>
`;

/** What a row says before it is opened. */
function outcomeInWords({ status, attempts, nextAttemptAt }: Delivery, now: Date): View {
  const last = attempts.at(-1);
  const made = attemptsMade({ attempts });
  const tries = made === 0 ? 'no attempt yet' : made === 1 ? 'one attempt' : `${made} attempts`;
  const next =
    status === 'pending' && nextAttemptAt !== null ? `, next ${soon(nextAttemptAt, now)}` : '';
  return html`${tries}${next}${last?.error ? html`: <bdi>${last.error}</bdi>` : null}`;
}

/** Retries are seconds apart. */
function soon(time: string, now: Date): string {
  const seconds = Math.ceil((Date.parse(time) - now.getTime()) / 1000);
  if (seconds <= 0) return 'now';
  return seconds < 120 ? `in ${seconds} s` : ago(time, now);
}

const sendAgainForm = (
  signedIn: SignedIn,
  subscriptionId: string,
  { id, createdAt }: Delivery,
  { status, cursor }: DeliveriesView,
): View => html`
  <form method="post" action=${`/keys/subscriptions/${subscriptionId}/deliveries/${id}/redeliver`}>
    ${csrfField(signedIn)}
    ${status === undefined ? null : html`<input type="hidden" name="status" value=${status} />`}
    ${cursor === undefined ? null : html`<input type="hidden" name="cursor" value=${cursor} />`}
    <button id=${`again-${id}`} class="small" aria-label=${`Send again the delivery of ${exactTime(createdAt)}`}>Send again</button>
  </form>
`;
