import type { FoundDelivery } from '../../operations/deliveryDetails.ts';
import type { SignedIn } from '../../../team/index.ts';
import { backLink } from '../../../platform/html/components.ts';
import { html, type View } from '../../../platform/html/html.ts';
import { teamPage } from '../../../platform/html/layout.ts';
import { timeView } from '../../../platform/html/times.ts';
import { deliveryBadge, deliveryHref } from '../deliveriesList.ts';
import { eventsInWords } from '../subscriptionState.ts';

/** Finds a delivery in all subscriptions. */
export const deliverySearch = (id = ''): View => html`
  <div role="search" class="narrow-form delivery-search">
    <form method="get" action="/keys/deliveries">
      <label for="f-delivery">Find a delivery</label>
      <div class="row">
        <input
          type="search"
          id="f-delivery"
          name="id"
          value=${id}
          required
          maxlength="64"
          placeholder="evt_… or dlv_…"
          autocomplete="off"
          spellcheck="false"
          aria-describedby="h-delivery"
        />
        <button>Find</button>
      </div>
      <small id="h-delivery">By the id of the event (<code>X-Service-Delivery</code>, in n8n <code>delivery_id</code>) or of the delivery.</small>
    </form>
  </div>
`;

/** All deliveries of an event, or that there is none. */
export const foundPage = (
  signedIn: SignedIn,
  { id, found, now }: { id: string; found: readonly FoundDelivery[]; now: Date },
): View =>
  teamPage(
    signedIn,
    { title: 'Find a delivery', section: 'keys' },
    html`
      ${backLink('/keys', 'Keys and subscriptions')}
      <h1>Find a delivery</h1>
      ${deliverySearch(id)}
      ${
        found.length === 0
          ? html`<p role="status">Neither a delivery nor an event with deliveries has the id “<bdi>${id}</bdi>”. Ids begin with <code>evt_</code> or <code>dlv_</code>. Deliveries of removed subscriptions are no longer listed.</p>`
          : html`
              <p role="status">${found.length} deliveries of this event</p>
              <ul class="bare records">${found.map((each) => foundItem(each, now))}</ul>
            `
      }
    `,
  );

const foundItem = ({ delivery, subscription }: FoundDelivery, now: Date): View => html`
  <li>
    <div class="what">
      <p>
        <a href=${deliveryHref(delivery)}><strong>${eventsInWords(subscription)}</strong></a>${' '}
        ${deliveryBadge(delivery)}
      </p>
      <p class="url"><bdi>${subscription.targetUrl}</bdi></p>
      <p class="muted">${timeView(delivery.createdAt, now)}</p>
    </div>
  </li>
`;
