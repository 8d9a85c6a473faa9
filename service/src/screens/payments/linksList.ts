import type { SignedIn } from '../../domain/operations/sessions.ts';
import type { PaymentView } from '../../domain/operations/paymentLinks.ts';
import type { Page } from '../../domain/page.ts';
import { PAYMENT_STATUSES, type PaymentStatus, type PaymentPageUrl } from '../../domain/payment.ts';
import { addressWith, filterLinks, pager } from '../components.ts';
import { customerName } from '../conversations/labels.ts';
import { html, type View } from '../html.ts';
import { amountOf, paymentBadge, PAYMENT_LABELS } from './paymentLabels.ts';
import { paymentView } from './paymentView.ts';

/** Which payment links the page shows. */
export interface PaymentsView {
  readonly status?: PaymentStatus | undefined;
  /** The last link of the page before. */
  readonly cursor?: string | undefined;
}

/** Reads the view from a query or a form; ignores what makes no sense. */
export function paymentsViewFrom(values: Readonly<Record<string, unknown>>): PaymentsView {
  const { status, cursor } = values;
  return {
    status: PAYMENT_STATUSES.find((each) => each === status),
    cursor: typeof cursor === 'string' && cursor !== '' ? cursor : undefined,
  };
}

export const paymentsHref = (
  view: PaymentsView,
  more: Readonly<Record<string, string>> = {},
): string => addressWith('/payments', { ...view, ...more });

export interface LinksPage {
  readonly links: Page<PaymentView>;
  readonly view: PaymentsView;
  readonly now: Date;
  readonly pageUrl: PaymentPageUrl;
}

export const linkFilters = ({ status }: PaymentsView): View =>
  filterLinks(
    'Payment links by status',
    status,
    [undefined, ...PAYMENT_STATUSES].map((value) => ({
      value,
      label: value === undefined ? 'All' : capitalised(PAYMENT_LABELS[value]),
      href: paymentsHref({ status: value }),
    })),
  );

const capitalised = (text: string) => `${text[0]!.toUpperCase()}${text.slice(1)}`;

/** A page of links, newest first. */
export const linksList = (signedIn: SignedIn, page: LinksPage): View => {
  const { links, view } = page;
  const { items, nextCursor } = links;
  const { status, cursor } = view;
  return html`
    <div class="payments-list">
      ${
        items.length === 0
          ? html`<p class="muted">${emptyInWords(view)}</p>`
          : items.map((link) => linkItem(signedIn, link, page))
      }
      ${pager('Pages of payment links', {
        newest: cursor === undefined ? null : paymentsHref({ status }),
        older: nextCursor === null ? null : paymentsHref({ status, cursor: nextCursor }),
      })}
    </div>
  `;
};

const linkItem = (
  signedIn: SignedIn,
  { payment, contact }: PaymentView,
  { view, now, pageUrl }: LinksPage,
): View => html`
  <article class="payment" id=${payment.id} aria-label=${`Payment link for ${amountOf(payment)}`}>
    <header>
      <span><b>${amountOf(payment)}</b> from <a id=${`of-${payment.id}`} href=${`/conversations/${payment.conversationId}`}><bdi>${customerName(contact)}</bdi></a></span>
      ${paymentBadge(payment)}
    </header>
    ${paymentView(payment, {
      signedIn,
      now,
      pageUrl,
      action: (verb) => `/payments/links/${payment.id}/${verb}`,
      hidden: { status: view.status, cursor: view.cursor },
    })}
  </article>
`;

const emptyInWords = ({ status, cursor }: PaymentsView): string => {
  if (cursor !== undefined) return 'No older payment links.';
  if (status !== undefined) return `No payment link is ${PAYMENT_LABELS[status]}.`;
  return 'No payment links yet. To create one, open a conversation and choose “Payment link…”.';
};
