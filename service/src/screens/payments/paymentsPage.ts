import type { SignedIn } from '../../domain/operations/sessions.ts';
import type { PaymentAccount } from '../../domain/payment.ts';
import type { PaymentAdapter } from '../../payments/paymentAdapter.ts';
import { PAYMENT_ADAPTERS } from '../../payments/registry.ts';
import { addressWith } from '../components.ts';
import { html, type View } from '../html.ts';
import { teamPage } from '../layout.ts';
import { liveArea, liveSection } from '../liveSection.ts';
import { linkFilters, linksList, type LinksPage } from './linksList.ts';
import { accountBadge } from './providerPage.ts';

export interface PaymentsPage extends LinksPage {
  /** The providers that are set up. */
  readonly accounts: readonly PaymentAccount[];
  readonly notice?: unknown;
}

/** The providers and the payment links. Both load again when something changes. */
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
      ${liveArea(html`
        <section aria-labelledby="providers-title">
          <h2 id="providers-title">Providers</h2>
          ${liveSection('payments', 'providers', '/payments/providers-list', providersList(page.accounts))}
        </section>
        <section aria-labelledby="links-title">
          <h2 id="links-title">Payment links</h2>
          ${linkFilters(page.view)}
          ${liveSection('payments', 'links', addressWith('/payments/links', { ...page.view }), linksList(signedIn, page))}
        </section>
      `)}
    `,
  );

export const providersList = (accounts: readonly PaymentAccount[]): View => html`
  ${accounts.length === 0 ? html`<p>No provider is set up yet. Set one up to create payment links.</p>` : null}
  <ul class="records">
    ${PAYMENT_ADAPTERS.map((adapter) =>
      providerItem(adapter, accounts.find(({ provider }) => provider === adapter.provider) ?? null),
    )}
  </ul>
`;

const providerItem = (
  { provider, label, isRemote }: PaymentAdapter,
  account: PaymentAccount | null,
): View => html`
  <li>
    <div class="what">
      <p><a id=${`provider-${provider}`} href=${`/payments/providers/${provider}`}>${label}</a></p>
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
