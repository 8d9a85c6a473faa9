import type { SignedIn } from '../../team/index.ts';
import {
  isOver,
  isPayable,
  MAX_REFERENCE_CHARACTERS,
  type Payment,
  type PaymentPageUrl,
  type PaymentProvider,
  type PaymentStatus,
} from '../payment.ts';
import { paymentAdapterOf } from '../registry.ts';
import {
  badge,
  copyButton,
  csrfField,
  hiddenFields,
  postButton,
} from '../../platform/html/components.ts';
import { actorName } from '../../conversations/index.ts';
import { html, type View } from '../../platform/html/html.ts';
import { exactTimeView, timeView } from '../../platform/html/times.ts';
import { formatAmount } from '../../platform/currency.ts';

export const PAYMENT_LABELS: Readonly<Record<PaymentStatus, string>> = {
  creating: 'being created',
  open: 'open',
  paid: 'paid',
  expired: 'expired',
  cancelled: 'cancelled',
  failed: 'failed',
};

export const paymentBadge = ({ status }: Payment): View => {
  const tone = status === 'paid' ? 'good' : status === 'failed' ? 'bad' : '';
  return badge(PAYMENT_LABELS[status], tone);
};

export const providerLabel = (provider: PaymentProvider): string =>
  paymentAdapterOf(provider).label;

export const amountOf = ({ amount, currency }: Pick<Payment, 'amount' | 'currency'>): string =>
  formatAmount(amount, currency);

interface PaymentParts {
  readonly signedIn: SignedIn;
  readonly now: Date;
  readonly pageUrl: PaymentPageUrl;
  /** Where the forms are posted. */
  readonly action: (verb: 'send' | 'cancel' | 'mark-paid') => string;
  /** Hidden fields of every form. */
  readonly hidden?: Readonly<Record<string, string | undefined>>;
  /**
   * How many messages the conversation has; null where the link cannot be sent. The form posts it, so
   * that a form posted twice sends one message.
   */
  readonly sendAfter?: number | null;
  /** Whether the customer already has the link. */
  readonly isSent?: boolean;
}

/** What a payment link is for, its status, its URL, and what can be done with it. */
export const paymentView = (payment: Payment, parts: PaymentParts): View => {
  const { status, description, provider, createdBy, createdAt, error } = payment;
  return html`
    <p class="text" dir="auto">${description}</p>
    <p class=${status === 'failed' ? 'problem' : undefined}>${statusInWords(payment, parts.now)}</p>
    ${
      error === null || status === 'failed'
        ? null
        : html`<p class="problem"><bdi>${error}</bdi></p>`
    }
    <p class="muted">
      ${providerLabel(provider)}, created by <bdi>
        ${actorName(createdBy)}
      </bdi> ${timeView(createdAt, parts.now)}
    </p>
    ${isPayable(payment, parts.now) ? linkView(payment, parts) : null}
    ${actionsView(payment, parts)}
  `;
};

function statusInWords(payment: Payment, now: Date): View {
  const label = providerLabel(payment.provider);
  switch (payment.status) {
    case 'creating':
      return `Waiting for ${label} to create the payment page. You can send the link once it is open.`;
    case 'open':
      return openInWords(payment, now);
    case 'paid':
      return paidInWords(payment, now);
    case 'expired':
      return html`Expired ${timeView(payment.expiresAt, now)} without being paid.`;
    case 'cancelled':
      if (payment.confirmingSince !== undefined)
        return `Cancelled, but the customer already paid at ${label}. If their bank confirms the payment, it counts.`;
      return payment.work === null
        ? 'Cancelled. It can no longer be paid.'
        : `Cancelled. Closing the payment page at ${label}.`;
    case 'failed':
      if (payment.providerUrl !== null) return payment.error ?? 'The payment was refused.';
      return html`
        ${label} refused to create the payment page: <bdi>
          ${payment.error ?? 'it gave no reason.'}
        </bdi>
      `;
  }
}

function openInWords(payment: Payment, now: Date): View {
  const { expiresAt, provider, providerUrl, confirmingSince } = payment;
  const label = providerLabel(provider);
  if (confirmingSince !== undefined)
    return html`The customer paid at ${label} ${timeView(confirmingSince, now)}. Their bank still has to confirm the payment, which can take a few days.`;
  if (providerUrl !== null && isOver({ expiresAt }, now))
    return html`Expired ${timeView(expiresAt, now)}. Checking with ${label} whether it was paid.`;
  return html`Open until ${exactTimeView(expiresAt)}.`;
}

function paidInWords(payment: Payment, now: Date): View {
  const { provider, paidAt, markedPaidBy, providerReference } = payment;
  if (markedPaidBy === null)
    return html`Paid ${timeView(paidAt, now)}, confirmed by ${providerLabel(provider)}.`;
  return html`
    Paid ${timeView(paidAt, now)}, marked by <b><bdi>${actorName(markedPaidBy)}</bdi></b>.
    ${
      providerReference === null
        ? null
        : html`${' '}Reference: <bdi class="text">${providerReference}</bdi>`
    }
  `;
}

const linkView = (payment: Payment, { pageUrl }: PaymentParts): View => html`
  <p class="link row">
    <code id=${`link-${payment.id}`}>${pageUrl(payment)}</code> ${copyButton(
      `link-${payment.id}`,
      `the link for ${amountOf(payment)}`,
      'small outline',
    )}
  </p>
`;

function actionsView(payment: Payment, parts: PaymentParts): View {
  const { status, provider } = payment;
  const isManual = !paymentAdapterOf(provider).isRemote;
  const canSend = isPayable(payment, parts.now) && (parts.sendAfter ?? null) !== null;
  const canMark = isManual && (status === 'open' || status === 'expired');
  const canCancel = isPayable(payment, parts.now) || status === 'creating';
  if (!canSend && !canMark && !canCancel) return null;
  return html`
    <div class="decision">
      ${canSend ? sendButton(payment, parts) : null}
      ${canMark ? markPaidForm(payment, parts) : null}
      ${canCancel ? cancelButton(payment, parts) : null}
    </div>
  `;
}

function sendButton(payment: Payment, parts: PaymentParts): View {
  const label = parts.isSent ? 'Send again' : 'Send to the customer';
  return postButton(parts.signedIn, {
    action: parts.action('send'),
    label,
    hidden: { ...parts.hidden, after: String(parts.sendAfter) },
    button: {
      id: `send-${payment.id}`,
      class: parts.isSent ? 'secondary outline' : undefined,
      'aria-label': `${label}: ${amountOf(payment)}`,
    },
    form: { 'hx-sync': 'this:drop' },
  });
}

/** Folded, so that marking money as received takes two steps even without scripts. */
const markPaidForm = (payment: Payment, { signedIn, action, hidden = {} }: PaymentParts): View => {
  const { id } = payment;
  const amount = amountOf(payment);
  return html`
    <details id=${`mark-${id}`}>
      <summary
        id=${`mark-summary-${id}`}
        role="button"
        class="secondary outline"
        aria-label=${`Mark as paid…: ${amount}`}
      >
        Mark as paid…
      </summary>
      <form method="post" action=${action('mark-paid')} hx-sync="this:drop">
        ${csrfField(signedIn)}${hiddenFields(hidden)}
        <label for=${`reference-${id}`}>Reference (optional), such as a bank transfer number</label>
        <input
          id=${`reference-${id}`}
          name="reference"
          maxlength=${MAX_REFERENCE_CHARACTERS}
          autocomplete="off"
        />
        <p class="muted">
          The customer’s page will show ${amount} as paid, and the conversation moves to the stage Customer. You can’t undo this.
        </p>
        <button id=${`do-mark-${id}`} class="secondary" aria-label=${`Mark as paid: ${amount}`}>
          Mark as paid
        </button>
      </form>
    </details>
  `;
};

const cancelButton = (payment: Payment, parts: PaymentParts): View =>
  postButton(parts.signedIn, {
    action: parts.action('cancel'),
    label: 'Cancel link',
    confirm: `Cancel the payment link for ${amountOf(payment)}? The customer can no longer pay with it.`,
    hidden: { ...parts.hidden },
    button: {
      id: `cancel-${payment.id}`,
      class: 'danger',
      'aria-label': `Cancel link: ${amountOf(payment)}`,
    },
    form: { 'hx-sync': 'this:drop' },
  });
