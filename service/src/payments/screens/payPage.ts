import { formatAmount } from '../../platform/currency.ts';
import type { PaymentPage } from '../operations/paymentLinks.ts';
import { isOver, type Payment } from '../payment.ts';
import { assetUrl } from '../../platform/html/assets.ts';
import { html, type View } from '../../platform/html/html.ts';
import { exactTime, exactTimeView } from '../../platform/html/times.ts';

/** When and where the page loads its next state. Without scripts, the whole page reloads. */
interface Reload {
  readonly seconds: number;
  readonly href: string;
}

const page = (title: string, reload: Reload | null, content: View): View => html`
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex" />
      ${
        reload &&
        html`
          <noscript>
            <meta http-equiv="refresh" content=${`${reload.seconds};url=${reload.href}`} />
          </noscript>
        `
      }
      <title>${title}</title>
      <link rel="icon" type="image/svg+xml" href=${assetUrl('mark.svg')} />
      <link rel="stylesheet" href=${assetUrl('pay.css')} />
      <script type="module" src=${assetUrl('times.js')}></script>
      ${reload && html`<script type="module" src=${assetUrl('pay.js')}></script>`}
    </head>
    <body>
      <main>${content}</main>
    </body>
  </html>
`;

interface PayPageState {
  readonly now: Date;
  readonly reload: Reload | null;
}

/** The customer's page of a payment link: what it is for, its status, and how to pay. */
export const payPage = (shown: PaymentPage, state: PayPageState): View =>
  page(
    `Payment to ${shown.workspace.name}`,
    state.reload,
    html`
      <p class="to" dir="auto">${shown.workspace.name}</p>
      <h1>${amountView(shown.payment)}</h1>
      <p class="for" dir="auto">${shown.payment.description}</p>
      <section
        role="status"
        class=${`status ${shown.payment.status}`}
        data-reload=${state.reload?.href ?? null}
      >
        ${statusView(shown, state)}
      </section>
    `,
  );

/** A long amount breaks after the currency, not within the number. */
const amountView = ({ amount, currency }: Payment) =>
  formatAmount(amount, currency).replace('\u00a0', ' ');

function statusView(shown: PaymentPage, state: PayPageState): View {
  const { payment } = shown;
  switch (payment.status) {
    case 'creating':
      return html`
        <h2>Getting ready</h2>
        <p>Your payment page is being created. ${reloadHint(state.reload)}</p>
      `;
    case 'open':
      return openView(shown, state);
    case 'paid':
      return html`
        <h2>Paid</h2>
        <p>Paid on ${day(payment.paidAt ?? payment.updatedAt)}. Thank you.</p>
        <p class="reference">Reference: ${payment.id}</p>
      `;
    case 'expired':
      return html`
        <h2>Expired</h2>
        <p>This link expired on ${day(payment.expiresAt)}. Please ask for a new one.</p>
      `;
    case 'cancelled':
      return html`<h2>Cancelled</h2><p>This link was cancelled. Please do not use it to pay.</p>`;
    case 'failed':
      if (payment.providerUrl !== null)
        return html`
          <h2>Refused</h2>
          <p>Your bank refused the payment, so nothing was paid. Please ask for a new link.</p>
        `;
      return html`
        <h2>Not available</h2>
        <p>The payment page could not be created. Please ask for a new link.</p>
      `;
  }
}

function openView(shown: PaymentPage, state: PayPageState): View {
  const { payment } = shown;
  if (payment.providerUrl === null)
    return isOver(payment, state.now) ? overView(payment, null) : manualView(shown);
  if (payment.confirmingSince !== undefined)
    return html`
      <h2>Being confirmed</h2>
      <p>
        You don’t need to do anything. Your bank still has to confirm the payment, which can take a few days. This page shows when it has.
      </p>
    `;
  if (isOver(payment, state.now))
    return overView(payment, 'If you have paid, this page shows it once the payment is confirmed.');
  return html`
    <h2>Not paid yet</h2>
    <p>
      If you have just paid, this page shows it once the payment is confirmed. ${reloadHint(state.reload)}
    </p>
    <p><a class="button" href=${payment.providerUrl} rel="noreferrer">Pay now</a></p>
  `;
}

const overView = ({ expiresAt }: Payment, more: string | null): View => html`
  <h2>Expired</h2>
  <p>This link expired on ${day(expiresAt)}. Please ask for a new one.</p>
  ${more && html`<p>${more}</p>`}
`;

const manualView = ({ workspace, payment, instructions }: PaymentPage): View => html`
  <h2>How to pay</h2>
  <p class="instructions" dir="auto">${instructions ?? `Ask ${workspace.name} how to pay.`}</p>
  <dl>
    <dt>Reference to include with your payment</dt>
    <dd class="reference">${payment.id}</dd>
    <dt>Pay by</dt>
    <dd>${exactTimeView(payment.expiresAt)}</dd>
  </dl>
  <p>This page shows when your payment has been received.</p>
`;

const reloadHint = (reload: Reload | null) =>
  reload ? 'This page updates by itself.' : 'Please reload this page in a while.';

const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' });

/** "November 21, 2026" in a `time`. */
const day = (time: string): View => html`
  <time datetime=${time} data-day title=${exactTime(time)}>${DAY.format(Date.parse(time))}</time>
`;

/** A page without a payment: there is no such link, or it cannot be shown now. */
export const noticePage = (title: string, text: string): View =>
  page(
    title,
    null,
    html`
      <section role="status" class="status">
        <h1 class="notice">${title}</h1>
        <p>${text}</p>
      </section>
    `,
  );
