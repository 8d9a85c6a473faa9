import type { SignedIn } from '../../domain/operations/findSession.ts';
import type { Payment } from '../../domain/payment.ts';
import { isOver } from '../../domain/paymentRules.ts';
import type { PaymentPageUrl } from '../../domain/webhookAddress.ts';
import { paymentAdapterOf } from '../../payments/registry.ts';
import { actorName } from '../conversations/words.ts';
import { html, type View } from '../html.ts';
import { csrfField } from '../layout.ts';
import { exactTime, timeView } from '../times.ts';
import { PAYMENT_LABELS, amountOf, paymentTone, providerLabel } from './words.ts';

export const MAX_REFERENCE_CHARACTERS = 200;

export interface PaymentParts {
  readonly signedIn: SignedIn;
  readonly now: Date;
  readonly pageUrl: PaymentPageUrl;
  /** Where a form posts what is to be done. */
  readonly action: (verb: 'send' | 'cancel' | 'mark-paid') => string;
  /** What every form carries beside its own fields. */
  readonly carried?: Readonly<Record<string, string | undefined>>;
  /**
   * Given where the link can be sent: how many messages there are, so that a form sent twice sends
   * one message.
   */
  readonly sendAfter?: number | null;
  /** Whether the customer was sent the link before. */
  readonly isSent?: boolean;
}

export const paymentBadge = ({ status }: Payment): View =>
  html`<span class=${`badge ${paymentTone(status)}`}>${PAYMENT_LABELS[status]}</span>`;

/** What is paid for, how it stands, its link, and what its status allows. */
export const paymentView = (payment: Payment, parts: PaymentParts): View => html`
  <p class="text" dir="auto">${payment.description}</p>
  <p class=${payment.status === 'failed' ? 'problem' : undefined}>${statusWords(payment, parts.now)}</p>
  ${troubleView(payment)}
  <p class="muted">${providerLabel(payment.provider)}, made by <bdi>${actorName(payment.createdBy)}</bdi> ${timeView(payment.createdAt, parts.now)}</p>
  ${isPayable(payment, parts.now) ? linkView(payment, parts) : null}
  ${actionsView(payment, parts)}
`;

function statusWords(payment: Payment, now: Date): View {
  const label = providerLabel(payment.provider);
  switch (payment.status) {
    case 'creating':
      return `${label} is being asked for its page. The link can be sent once it is open.`;
    case 'open':
      return openWords(payment, now);
    case 'paid':
      return paidWords(payment, now);
    case 'expired':
      return html`It ended ${timeView(payment.expiresAt, now)}, and was not paid.`;
    case 'cancelled':
      if (payment.confirmingSince !== undefined)
        return `Cancelled, but the customer had finished at ${label}: what their bank still pays counts.`;
      return payment.work === null
        ? 'Cancelled: it can no longer be paid.'
        : `Cancelled. ${label} is being told to close its page.`;
    case 'failed':
      if (payment.providerUrl !== null) return payment.error ?? 'It was refused.';
      return html`${label} refused to make its page: <bdi>${payment.error ?? 'it gave no reason.'}</bdi>`;
  }
}

function openWords(
  { expiresAt, provider, providerUrl, confirmingSince }: Payment,
  now: Date,
): View {
  const label = providerLabel(provider);
  if (confirmingSince !== undefined)
    return html`The customer finished at ${label} ${timeView(confirmingSince, now)}; their bank has still to confirm the payment, which can take some days.`;
  if (providerUrl !== null && isOver({ expiresAt }, now))
    return html`It ended ${timeView(expiresAt, now)}; ${label} is being asked whether it was paid.`;
  return html`Open until <time datetime=${expiresAt}>${exactTime(expiresAt)}</time>.`;
}

/** What went wrong on the way; why a link has failed stands in its status. */
const troubleView = ({ status, error }: Payment): View =>
  error === null || status === 'failed' ? null : html`<p class="problem"><bdi>${error}</bdi></p>`;

const paidWords = (
  { provider, paidAt, markedPaidBy, providerReference }: Payment,
  now: Date,
): View => html`
  Paid ${timeView(paidAt, now)}${markedPaidBy === null ? `, confirmed by ${providerLabel(provider)}.` : html`, marked by <b><bdi>${actorName(markedPaidBy)}</bdi></b>.${providerReference === null ? null : html`${' '}Reference: <bdi class="text">${providerReference}</bdi>`}`}
`;

const linkView = (payment: Payment, { pageUrl }: PaymentParts): View => html`
  <p class="link"><code id=${`link-${payment.id}`}>${pageUrl(payment)}</code> <button class="small outline" type="button" data-copy=${`#link-${payment.id}`} aria-label=${`Copy the link for ${amountOf(payment)}`}>Copy</button></p>
`;

/** Whoever opens its link can still pay. */
const isPayable = (payment: Payment, now: Date): boolean =>
  payment.status === 'open' && payment.confirmingSince === undefined && !isOver(payment, now);

/** Only what the status allows. */
function actionsView(payment: Payment, parts: PaymentParts): View {
  const { status, provider } = payment;
  const isManual = !paymentAdapterOf(provider).isRemote;
  const canSend = isPayable(payment, parts.now) && (parts.sendAfter ?? null) !== null;
  const canMark = isManual && (status === 'open' || status === 'expired');
  const canCancel = isPayable(payment, parts.now) || status === 'creating';
  if (!canSend && !canMark && !canCancel) return null;
  return html`
    <div class="decision">
      ${canSend ? sendForm(payment, parts) : null}
      ${canMark ? markPaidForm(payment, parts) : null}
      ${canCancel ? cancelForm(payment, parts) : null}
    </div>
  `;
}

function sendForm(payment: Payment, parts: PaymentParts): View {
  const label = parts.isSent ? 'Send again' : 'Send to the customer';
  return html`
    <form method="post" action=${parts.action('send')} hx-sync="this:drop">
      ${hidden(parts, { after: String(parts.sendAfter) })}
      <button id=${`send-${payment.id}`} class=${parts.isSent ? 'secondary outline' : undefined} aria-label=${`${label}: ${amountOf(payment)}`}>${label}</button>
    </form>
  `;
}

/** Folded, so that marking money as received takes two steps, without scripts too. */
const markPaidForm = (payment: Payment, parts: PaymentParts): View => html`
  <details id=${`mark-${payment.id}`}>
    <summary id=${`mark-summary-${payment.id}`} role="button" class="secondary outline" aria-label=${`Mark as paid…: ${amountOf(payment)}`}>Mark as paid…</summary>
    <form method="post" action=${parts.action('mark-paid')} hx-sync="this:drop">
      ${hidden(parts)}
      <label for=${`reference-${payment.id}`}>Reference (optional), such as the number of a bank transfer</label>
      <input id=${`reference-${payment.id}`} name="reference" maxlength=${MAX_REFERENCE_CHARACTERS} autocomplete="off" />
      <p class="muted">The customer’s page will say that ${amountOf(payment)} is paid, and the stage moves to Customer. This cannot be undone.</p>
      <button id=${`do-mark-${payment.id}`} class="secondary" aria-label=${`Mark as paid: ${amountOf(payment)}`}>Mark as paid</button>
    </form>
  </details>
`;

const cancelForm = (payment: Payment, parts: PaymentParts): View => html`
  <form method="post" action=${parts.action('cancel')} hx-sync="this:drop" data-confirm=${`Cancel the payment link for ${amountOf(payment)}? It can no longer be paid then.`}>
    ${hidden(parts)}
    <button id=${`cancel-${payment.id}`} class="secondary outline" aria-label=${`Cancel the link: ${amountOf(payment)}`}>Cancel the link</button>
  </form>
`;

const hidden = (
  { signedIn, carried = {} }: PaymentParts,
  more: Readonly<Record<string, string>> = {},
): View => html`
  ${csrfField(signedIn)}
  ${Object.entries({ ...carried, ...more }).map(([name, value]) => (value === undefined ? null : html`<input type="hidden" name=${name} value=${value} />`))}
`;
