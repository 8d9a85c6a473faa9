import {
  attemptsMade,
  DELIVERY_STATUSES,
  type Delivery,
  type DeliveryStatus,
} from '../delivery.ts';
import { attemptsList } from './delivery/attemptsList.ts';
import { isOwner, type SignedIn } from '../../team/index.ts';
import type { Page } from '../../platform/http/page.ts';
import {
  addressWith,
  badge,
  filterLinks,
  pager,
  postButton,
} from '../../platform/html/components.ts';
import { html, type View } from '../../platform/html/html.ts';
import { ago, secondTimeView, timeView } from '../../platform/html/times.ts';

/** Which of a subscription's deliveries a page shows. */
export interface DeliveriesView {
  readonly status?: DeliveryStatus | undefined;
  /** The last delivery of the previous page. */
  readonly cursor?: string | undefined;
  /** The delivery that is unfolded. */
  readonly open?: string | undefined;
}

/** Reads the view from a query or a form. Ignores an unknown status; the cursor is checked later. */
export function deliveriesViewFrom(values: Readonly<Record<string, unknown>>): DeliveriesView {
  const text = (name: string) =>
    typeof values[name] === 'string' && values[name] !== '' ? values[name] : undefined;
  return {
    status: DELIVERY_STATUSES.find((each) => each === text('status')),
    cursor: text('cursor'),
    open: text('open'),
  };
}

/** The address of a subscription's page. */
export const subscriptionHref = (
  id: string,
  view: DeliveriesView = {},
  more: Readonly<Record<string, string>> = {},
): string => addressWith(`/keys/subscriptions/${id}`, { ...view, ...more });

/** The address of a delivery's page. */
export const deliveryHref = (
  { id, subscriptionId }: Pick<Delivery, 'id' | 'subscriptionId'>,
  more: Readonly<Record<string, string>> = {},
): string => addressWith(`/keys/subscriptions/${subscriptionId}/deliveries/${id}`, more);

/** The address of the page on which a subscription's failed deliveries are sent again. */
export const recoverHref = (id: string): string => `/keys/subscriptions/${id}/recover`;

export interface DeliveriesPage {
  readonly subscriptionId: string;
  readonly deliveries: Page<Delivery>;
  /** The ids of the deliveries' conversations, by event id. */
  readonly conversations: ReadonlyMap<string, string>;
  readonly view: DeliveriesView;
  readonly now: Date;
}

const FILTERS = [
  { value: undefined, label: 'All' },
  { value: 'failed', label: 'Failed' },
  { value: 'pending', label: 'Pending' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'cancelled', label: 'Cancelled' },
] as const;

export const deliveryFilters = (subscriptionId: string, { status }: DeliveriesView): View =>
  filterLinks(
    'Deliveries by status',
    status,
    FILTERS.map(({ value, label }) => ({
      value,
      label,
      href: subscriptionHref(subscriptionId, { status: value }),
    })),
  );

/** A page of deliveries, newest first. Each unfolds to its attempts. */
export const deliveriesList = (signedIn: SignedIn, page: DeliveriesPage): View => {
  const { subscriptionId, deliveries, view } = page;
  const { status, cursor } = view;
  const { items, nextCursor } = deliveries;
  return html`
    ${
      items.length === 0
        ? html`<p class="muted">${emptyInWords(signedIn, view)}</p>`
        : html`
            <div class="deliveries">
              ${items.map((delivery) => deliveryItem(signedIn, delivery, page))}
            </div>
          `
    }
    ${pager('Pages of deliveries', {
      newest: cursor === undefined ? null : subscriptionHref(subscriptionId, { status }),
      older:
        nextCursor === null
          ? null
          : subscriptionHref(subscriptionId, { status, cursor: nextCursor }),
    })}
  `;
};

const EMPTY: Readonly<Record<DeliveryStatus, string>> = {
  pending: 'No pending deliveries.',
  delivered: 'No successful deliveries.',
  failed: 'No failed deliveries.',
  cancelled: 'No cancelled deliveries.',
};

const emptyInWords = (signedIn: SignedIn, { status, cursor }: DeliveriesView): string => {
  if (cursor !== undefined) return 'No older deliveries.';
  if (status !== undefined) return EMPTY[status];
  return isOwner(signedIn.member)
    ? 'No deliveries yet. Send a test event to check that the endpoint works.'
    : 'No deliveries yet.';
};

const BADGES = {
  pending: badge('Pending'),
  delivered: badge('Delivered', 'good'),
  failed: badge('Failed', 'bad'),
  cancelled: badge('Cancelled'),
} as const satisfies Readonly<Record<DeliveryStatus, View>>;

export const deliveryBadge = ({ status }: Delivery): View => BADGES[status];

/** @param hidden form fields that say which page is shown afterwards */
export const resendButton = (
  signedIn: SignedIn,
  delivery: Delivery,
  hidden: Readonly<Record<string, string | undefined>>,
): View =>
  postButton(signedIn, {
    action: `${deliveryHref(delivery)}/redeliver`,
    label: 'Resend',
    hidden,
    button: {
      id: `resend-${delivery.id}`,
      class: 'small',
      // Not an aria-label, since a script puts the time in `made-…` into the reader's time zone.
      'aria-describedby': `made-${delivery.id}`,
    },
  });

const deliveryItem = (
  signedIn: SignedIn,
  delivery: Delivery,
  { conversations, view, now }: DeliveriesPage,
): View => {
  const conversationId = conversations.get(delivery.eventId);
  const created = secondTimeView(delivery.createdAt);
  return html`
    <details id=${delivery.id} open=${view.open === delivery.id}>
      <summary id=${`summary-${delivery.id}`}>
        ${deliveryBadge(delivery)}
        <span class="when">${timeView(delivery.createdAt, now)}</span>
        <span class="why muted">${attemptsInWords(delivery, now)}</span>
      </summary>
      <p class="muted" id=${`made-${delivery.id}`}>
        Event <code>${delivery.eventId}</code>, delivery <code>${delivery.id}</code>, created ${created}
      </p>
      <p>
        ${
          conversationId === undefined
            ? null
            : html`<a href=${`/conversations/${conversationId}`}>Conversation</a>, `
        }
        <a
          id=${`more-${delivery.id}`}
          href=${deliveryHref(delivery)}
          aria-describedby=${`summary-${delivery.id}`}
        >
          payload and headers
        </a>
      </p>
      ${attemptsList(delivery)}
      ${
        delivery.status === 'pending'
          ? null
          : resendButton(signedIn, delivery, { status: view.status, cursor: view.cursor })
      }
    </details>
  `;
};

/** The summary of a folded delivery: its attempts, the next one, and the last error. */
function attemptsInWords({ status, attempts, nextAttemptAt }: Delivery, now: Date): View {
  const made = attemptsMade({ attempts });
  const count = made === 0 ? 'no attempts yet' : made === 1 ? '1 attempt' : `${made} attempts`;
  const next =
    status === 'pending' && nextAttemptAt !== null ? `, next ${soon(nextAttemptAt, now)}` : '';
  const error = attempts.at(-1)?.error;
  return html`${count}${next}${error ? html`: <bdi>${error}</bdi>` : null}`;
}

/** Like `ago`, but in seconds below two minutes, because early retries are seconds apart. */
export function soon(time: string, now: Date): string {
  const seconds = Math.ceil((Date.parse(time) - now.getTime()) / 1000);
  if (seconds <= 0) return 'now';
  return seconds < 120 ? `in ${seconds} s` : ago(time, now);
}
