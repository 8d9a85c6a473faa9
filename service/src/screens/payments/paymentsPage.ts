import type { SignedIn } from '../../domain/operations/findSession.ts';
import type { PaymentAccount } from '../../domain/payment.ts';
import type { PaymentAdapter } from '../../payments/paymentAdapter.ts';
import { PAYMENT_ADAPTERS } from '../../payments/registry.ts';
import { html, type View } from '../html.ts';
import { teamPage } from '../layout.ts';
import { linkFilters, linksList, type LinksList } from './linksList.ts';
import { paymentsHref } from './paymentsView.ts';
import { accountBadge } from './providerState.ts';

export interface PaymentsPage extends LinksList {
  /** The providers that are set up. */
  readonly accounts: readonly PaymentAccount[];
  readonly notice?: unknown;
}

/** The providers, and the links that were made, both followed live. */
export const paymentsPage = (signedIn: SignedIn, page: PaymentsPage): View =>
  teamPage(
    signedIn,
    { title: 'Payments', section: 'payments', notice: page.notice },
    html`
      <h1>Payments</h1>
      <p class="muted">A payment link is made in a conversation; when it is paid, the stage moves to Customer and <code>payment.paid</code> is sent.</p>
      <div hx-ext="sse" sse-connect="/live">
        <section aria-labelledby="providers-title">
          <h2 id="providers-title">Providers</h2>
          ${livePart('providers', '/payments/providers-list', providersList(page.accounts))}
        </section>
        <section aria-labelledby="links-title">
          <h2 id="links-title">Payment links</h2>
          ${linkFilters(page.view)}
          ${livePart('links', paymentsHref(page.view, {}, '/payments/links'), linksList(signedIn, page))}
        </section>
      </div>
    `,
  );

const livePart = (id: string, address: string, content: View): View =>
  html`<div id=${id} data-live hx-get=${address} hx-trigger="sse:payments, htmx:sseOpen from:closest [sse-connect]">${content}</div>`;

export const providersList = (accounts: readonly PaymentAccount[]): View => html`
  ${accounts.length === 0 ? html`<p>None is set up yet. Set one up, and links can be made.</p>` : null}
  <ul class="keys-records">
    ${PAYMENT_ADAPTERS.map((adapter) => providerItem(adapter, accounts.find(({ provider }) => provider === adapter.provider) ?? null))}
  </ul>
`;

const providerItem = (
  { provider, label, isRemote }: PaymentAdapter,
  account: PaymentAccount | null,
): View => html`
  <li>
    <div class="what">
      <p><a id=${`provider-${provider}`} href=${`/payments/providers/${provider}`}>${label}</a></p>
      <p class="muted">${isRemote ? `Customers pay on a page of ${label}, which says when it is paid.` : 'Customers read your own instructions, such as a bank account; your team marks what was paid.'}</p>
    </div>
    ${accountBadge(account, isRemote)}
  </li>
`;
