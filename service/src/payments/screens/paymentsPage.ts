import { isOwner, type SignedIn } from '../../team/index.ts';
import {
  PAYMENT_STATUSES,
  type Payment,
  type PaymentAccount,
  type PaymentPageUrl,
  type PaymentStatus,
} from '../payment.ts';
import type { PaymentAdapter } from '../paymentAdapter.ts';
import { PAYMENT_ADAPTERS } from '../registry.ts';
import { addressWith, filterLinks, pager } from '../../platform/html/components.ts';
import { html, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';
import { liveSection } from '../../platform/html/liveSection.ts';
import { accountBadge } from './providerPage.ts';
import type { PaymentView } from '../operations/paymentLinks.ts';
import type { Page } from '../../platform/http/page.ts';
import { type Contact, customerName, isForgotten } from '../../conversations/index.ts';
import { amountOf, PAYMENT_LABELS, paymentBadge, paymentView } from './paymentView.ts';

interface PaymentsPage extends LinksPage {
  /** The providers that are set up. */
  readonly accounts: readonly PaymentAccount[];
  readonly notice?: unknown;
}

/** The providers and the payment links. Live updates replace both. */
export const paymentsPage = (signedIn: SignedIn, page: PaymentsPage): View =>
  teamPage(
    signedIn,
    { title: 'Payments', section: 'payments', notice: page.notice },
    html`
      <h1>Payments</h1>
      <p class="muted">
        Create payment links in a conversation. When a link is paid, the conversation moves to the
        stage Customer and <code>payment.paid</code> is sent.
      </p>
      <section aria-labelledby="providers-title">
        <h2 id="providers-title">Providers</h2>
        ${liveSection(
          'payments',
          'providers',
          '/payments/providers-list',
          providersList(signedIn, page.accounts),
        )}
      </section>
      <section aria-labelledby="links-title">
        <h2 id="links-title">Payment links</h2>
        ${linkFilters(page.view)}
        ${liveSection(
          'payments',
          'links',
          addressWith('/payments/links', { ...page.view }),
          linksList(signedIn, page),
        )}
      </section>
    `,
  );

export const providersList = (
  signedIn: SignedIn,
  accounts: readonly PaymentAccount[],
): View => html`
  ${
    accounts.length === 0
      ? html`
        <p>
          No provider is set up yet. ${
            isOwner(signedIn.member) ? 'Set one up' : 'An owner can set one up'
          } to create payment links.
        </p>
      `
      : null
  }
  <ul class="bare records">
    ${PAYMENT_ADAPTERS.map((adapter) =>
      providerItem(
        signedIn,
        adapter,
        accounts.find(({ provider }) => provider === adapter.provider) ?? null,
      ),
    )}
  </ul>
`;

const providerItem = (
  { member }: SignedIn,
  { provider, label, isRemote }: PaymentAdapter,
  account: PaymentAccount | null,
): View => html`
  <li>
    <div class="what">
      <p>
        ${
          isOwner(member)
            ? html`
              <a id=${`provider-${provider}`} href=${`/payments/providers/${provider}`}>${label}</a>
            `
            : label
        }
      </p>
      <p class="muted">
        ${
          isRemote
            ? `Customers pay on a ${label} page, and ${label} confirms the payment.`
            : 'Customers follow your own instructions, such as for a bank transfer. Your team marks links as paid.'
        }
      </p>
    </div>
    ${accountBadge(account, isRemote)}
  </li>
`;

/** Which payment links the page shows. */
export interface PaymentsView {
  readonly status?: PaymentStatus | undefined;
  /** The last link of the previous page. */
  readonly cursor?: string | undefined;
}

/** Reads the view from a query or a form. Ignores an unknown status; the cursor is checked later. */
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

const linkFilters = ({ status }: PaymentsView): View =>
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
      <span><b>${amountOf(payment)}</b> from ${payerView(payment, contact)}</span>
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

/** The conversation of a forgotten contact is gone. */
const payerView = ({ id, conversationId }: Payment, contact: Contact): View =>
  isForgotten(contact)
    ? html`
      <a id=${`of-${id}`} href=${`/contacts/${contact.id}/forgotten`}>${customerName(contact)}</a>
    `
    : html`
      <a id=${`of-${id}`} href=${`/conversations/${conversationId}`}>
        <bdi>${customerName(contact)}</bdi>
      </a>
    `;

const emptyInWords = ({ status, cursor }: PaymentsView): string => {
  if (cursor !== undefined) return 'No older payment links.';
  if (status !== undefined) return `No payment link is ${PAYMENT_LABELS[status]}.`;
  return 'No payment links yet. To create one, open a conversation and choose “Payment link…”.';
};
