import type { SignedIn } from '../../domain/operations/findSession.ts';
import type { PaymentView } from '../../domain/operations/paymentLinks.ts';
import type { Page } from '../../domain/page.ts';
import { PAYMENT_STATUSES } from '../../domain/payment.ts';
import type { PaymentPageUrl } from '../../domain/webhookAddress.ts';
import { customerName } from '../conversations/words.ts';
import { html, type View } from '../html.ts';
import { paymentBadge, paymentView } from './paymentView.ts';
import { paymentsHref, type PaymentsView } from './paymentsView.ts';
import { PAYMENT_LABELS, amountOf } from './words.ts';

export interface LinksList {
  readonly links: Page<PaymentView>;
  readonly view: PaymentsView;
  readonly now: Date;
  /** The service's address as others see it. */
  readonly pageUrl: PaymentPageUrl;
}

/** Which of the links are shown. */
export const linkFilters = (view: PaymentsView): View => html`
  <nav class="keys-filters" aria-label="Payment links by status">
    <ul>
      ${[undefined, ...PAYMENT_STATUSES].map((status) => html`<li><a href=${paymentsHref({ status })} aria-current=${status === view.status ? 'true' : null}>${status === undefined ? 'All' : capital(PAYMENT_LABELS[status])}</a></li>`)}
    </ul>
  </nav>
`;

/** Newest first. */
export const linksList = (
  signedIn: SignedIn,
  { links: { items, nextCursor }, view, now, pageUrl }: LinksList,
): View => html`
  <div class="payments-list">
    ${items.length === 0 ? html`<p class="muted">${emptyWords(view)}</p>` : items.map((link) => linkItem(signedIn, link, { view, now, pageUrl }))}
    ${
      view.cursor === undefined && nextCursor === null
        ? null
        : html`
          <nav class="keys-pages" aria-label="Pages of payment links">
            ${view.cursor === undefined ? null : html`<a id="newest" href=${paymentsHref({ status: view.status })}>Newest</a>`}
            ${nextCursor === null ? null : html`<a id="older" href=${paymentsHref({ status: view.status, cursor: nextCursor })}>Older</a>`}
          </nav>
        `
    }
  </div>
`;

function linkItem(
  signedIn: SignedIn,
  { payment, contact }: PaymentView,
  { view, now, pageUrl }: Omit<LinksList, 'links'>,
): View {
  const action = (verb: string) => `/payments/links/${payment.id}/${verb}`;
  return html`
    <article class="payment" id=${payment.id} aria-label=${`Payment link for ${amountOf(payment)}`}>
      <header><span><b>${amountOf(payment)}</b> from <a id=${`of-${payment.id}`} href=${`/conversations/${payment.conversationId}`}><bdi>${customerName(contact)}</bdi></a></span> ${paymentBadge(payment)}</header>
      ${paymentView(payment, { signedIn, now, pageUrl, action, carried: { status: view.status, cursor: view.cursor } })}
    </article>
  `;
}

const emptyWords = ({ status, cursor }: PaymentsView): string => {
  if (cursor !== undefined) return 'There are no older ones.';
  if (status !== undefined) return `No payment link is ${PAYMENT_LABELS[status]}.`;
  return 'There is no payment link yet. Make one in a conversation, with “Payment link…” above its messages.';
};

const capital = (text: string) => `${text[0]!.toUpperCase()}${text.slice(1)}`;
