import { formatAmount } from '../../domain/currency.ts';
import type { PaymentPage } from '../../domain/operations/findPaymentPage.ts';
import type { Payment } from '../../domain/payment.ts';
import { isOver } from '../../domain/paymentRules.ts';
import { assetUrl } from '../assets.ts';
import { html, type View } from '../html.ts';
import { exactTime } from '../times.ts';

/**
 * The page is loaded again after so many seconds: by its script, and without scripts as a whole.
 */
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
      ${reload && html`<noscript><meta http-equiv="refresh" content=${`${reload.seconds};url=${reload.href}`} /></noscript>`}
      <title>${title}</title>
      <link rel="icon" href="data:," />
      <link rel="stylesheet" href=${assetUrl('pay.css')} />
      ${reload && html`<script type="module" src=${assetUrl('pay.js')}></script>`}
    </head>
    <body>
      <main>${content}</main>
    </body>
  </html>
`;

export interface PayPageState {
  readonly now: Date;
  /** The customer comes from the provider's page. */
  readonly isBack: boolean;
  readonly reload: Reload | null;
}

/** What a customer sees of a payment link: what it is for, how it stands, how to pay. */
export const payPage = (shown: PaymentPage, state: PayPageState): View =>
  page(
    `Payment to ${shown.workspace.name}`,
    state.reload,
    html`
      <p class="to" dir="auto">${shown.workspace.name}</p>
      <h1>${amountView(shown.payment)}</h1>
      <p class="for" dir="auto">${shown.payment.description}</p>
      <section role="status" class=${`status ${shown.payment.status}`} data-reload=${state.reload?.href ?? null}>${statusView(shown, state)}</section>
    `,
  );

/** Where it is too long for a line, it breaks behind the currency and not within the number. */
const amountView = ({ amount, currency }: Payment) =>
  formatAmount(amount, currency).replace('\u00a0', ' ');

function statusView(shown: PaymentPage, state: PayPageState): View {
  const { payment } = shown;
  switch (payment.status) {
    case 'creating':
      return html`<h2>Being prepared</h2><p>The page where you pay is being made. ${reloadHint(state.reload)}</p>`;
    case 'open':
      return openView(shown, state);
    case 'paid':
      return html`<h2>Paid</h2><p>Paid on ${day(payment.paidAt ?? payment.updatedAt)}. Thank you.</p><p class="reference">Reference: ${payment.id}</p>`;
    case 'expired':
      return html`<h2>Expired</h2><p>This link ended on ${day(payment.expiresAt)}. Please ask for a new one.</p>`;
    case 'cancelled':
      return html`<h2>Cancelled</h2><p>This link was cancelled: please do not pay by it.</p>`;
    case 'failed':
      if (payment.providerUrl !== null)
        return html`<h2>Refused</h2><p>Your bank refused the payment: nothing was paid. Please ask for a new link.</p>`;
      return html`<h2>Not possible</h2><p>The page where you pay could not be made. Please ask for a new link.</p>`;
  }
}

function openView(shown: PaymentPage, state: PayPageState): View {
  const { payment } = shown;
  if (payment.providerUrl === null)
    return isOver(payment, state.now) ? overView(payment, null) : manualView(shown);
  if (payment.confirmingSince !== undefined)
    return html`<h2>Being confirmed</h2><p>There is nothing more to do. Your bank has still to confirm the payment, which can take some days; then this page says so.</p>`;
  if (isOver(payment, state.now))
    return overView(payment, 'If you have paid, this page says so as soon as it is confirmed.');
  return html`
    <h2>Not paid yet</h2>
    <p>If you have just paid, this page says so as soon as it is confirmed. ${reloadHint(state.reload)}</p>
    <p><a class="button" href=${payment.providerUrl} rel="noreferrer">Pay now</a></p>
  `;
}

const overView = ({ expiresAt }: Payment, more: string | null): View =>
  html`<h2>Expired</h2><p>This link ended on ${day(expiresAt)}. Please ask for a new one.</p>${more && html`<p>${more}</p>`}`;

const manualView = ({ workspace, payment, instructions }: PaymentPage): View => html`
  <h2>How to pay</h2>
  <p class="instructions" dir="auto">${instructions ?? `Please ask ${workspace.name} how to pay.`}</p>
  <dl>
    <dt>Reference, to be given with your payment</dt>
    <dd class="reference">${payment.id}</dd>
    <dt>To be paid until</dt>
    <dd><time datetime=${payment.expiresAt}>${exactTime(payment.expiresAt)}</time></dd>
  </dl>
  <p>Once your payment has been received, this page says so.</p>
`;

const reloadHint = (reload: Reload | null) =>
  reload ? 'It loads again by itself.' : 'Please load it again in a while.';

const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' });

/** "November 21, 2026" in a `time`. */
const day = (time: string): View =>
  html`<time datetime=${time} title=${exactTime(time)}>${DAY.format(Date.parse(time))}</time>`;

/** No link has this address, or it cannot be shown now. */
export const noticePage = (title: string, text: string): View =>
  page(
    title,
    null,
    html`<section role="status" class="status"><h1 class="notice">${title}</h1><p>${text}</p></section>`,
  );
