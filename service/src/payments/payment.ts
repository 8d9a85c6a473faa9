import type { Document } from '../store/store.ts';
import type { ConnectedAccount } from '../platform/accounts/accountSetup.ts';
import { timestamp } from '../platform/clock.ts';
import type { Actor } from '../platform/actor.ts';
import type { Deps } from '../platform/deps.ts';

/**
 * Payment links, and the accounts that money goes to. Each provider's adapter says what it can do.
 * @see docs/payments.md
 */

export const PAYMENT_PROVIDERS = ['manual', 'stripe'] as const;
export type PaymentProvider = (typeof PAYMENT_PROVIDERS)[number];

/**
 * `creating`: the provider is asked for its page. `failed`: the provider refused to make the page,
 * or the customer's bank refused to pay.
 */
export const PAYMENT_STATUSES = [
  'creating',
  'open',
  'paid',
  'expired',
  'cancelled',
  'failed',
] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

export interface Payment extends Document {
  readonly workspaceId: string;
  readonly conversationId: string;
  readonly contactId: string;
  /** The number of the message after which the link stands in the thread. */
  readonly afterMessage: number;
  readonly status: PaymentStatus;
  /** Minor units of the currency. */
  readonly amount: number;
  /** ISO 4217, lower case. */
  readonly currency: string;
  readonly description: string;
  readonly provider: PaymentProvider;
  /** The provider's id, such as that of Stripe's Checkout Session. Manual: what the team noted. */
  readonly providerReference: string | null;
  /** The provider's page; null when the customer pays on our own. */
  readonly providerUrl: string | null;
  /** Hash of the random token that names its public page. Unique. */
  readonly pageTokenHash: string;
  readonly sealedPageToken: string;
  /** Why the provider or a bank refused, or could not be reached, in words for the team. */
  readonly error: string | null;
  readonly createdBy: Actor;
  readonly expiresAt: string;
  readonly paidAt: string | null;
  /** Manual: who marked it paid. */
  readonly markedPaidBy: Actor | null;
  /** The next request to the provider; null when there is none. */
  readonly work: PaymentWork | null;
  /** When the provider last told us the payment's state; null when never. */
  readonly checkedAt: string | null;
  /** When the customer finished at the provider, while a bank still has to confirm. */
  readonly confirmingSince?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The next request to a payment's provider. Its job in the queue has the payment's id. */
interface PaymentWork {
  /** `create` the page; `check` whether it was paid; `expire` the page. */
  readonly task: 'create' | 'check' | 'expire';
  /** Attempts begun so far. */
  readonly attempts: number;
  readonly runAt: string;
}

/** A payment that its provider is asked about. */
export type PaymentInWork = Payment & { readonly work: PaymentWork };

export const PAYMENT_QUEUE = 'payments';
export const MAX_PAYMENT_DESCRIPTION_CHARACTERS = 200;
/** Of a manual link's reference, by which the team finds the money. */
export const MAX_REFERENCE_CHARACTERS = 200;

/** A workspace's account with a provider; one per provider. */
export interface PaymentAccount extends ConnectedAccount {
  readonly provider: PaymentProvider;
}

/** `confirming`: the customer has finished, and their bank still has to confirm. */
export type RemoteState = 'open' | 'confirming' | 'paid' | 'expired';

/** A provider's update about a payment. `failed`: the customer's bank refused. */
export interface PaymentUpdate {
  readonly paymentId: string;
  /** The provider's id, which must be the payment's. */
  readonly reference: string;
  readonly state: RemoteState | 'failed';
}

/** Providers close a page by their own clock, so they are asked a little after it ends by ours. */
const EXPIRY_MARGIN_MS = 30_000;
const RETRY_WAITS_MS = [2000, 5000, 15_000, 60_000, 300_000] as const;
const LATE_WAITS_MS = [60_000, 300_000, 1_800_000, 3_600_000, 6 * 3_600_000] as const;
/** A bank can take days to confirm a payment. After this time, the service stops asking. */
const MAX_CONFIRMATION_MS = 30 * 24 * 3_600_000;

/** When the payment is looked at next, in ms since the epoch; null when nothing is scheduled. */
export function nextWorkAt({
  work,
  status,
  expiresAt,
  providerUrl,
}: Pick<Payment, 'work' | 'status' | 'expiresAt' | 'providerUrl'>): number | null {
  if (work) return Date.parse(work.runAt);
  return status === 'open' ? endsAt({ expiresAt, providerUrl }) : null;
}

/** When the link has ended for its provider too, in ms since the epoch. */
export const endsAt = ({ expiresAt, providerUrl }: Pick<Payment, 'expiresAt' | 'providerUrl'>) =>
  Date.parse(expiresAt) + (providerUrl === null ? 0 : EXPIRY_MARGIN_MS);

/** The wait after an attempt that got no answer. @param attempts made so far */
export const retryWaitMs = (attempts: number): number => waitAfter(RETRY_WAITS_MS, attempts);

/** The wait before asking again about an expired link that its provider has not closed. */
export const lateWaitMs = (attempts: number): number => waitAfter(LATE_WAITS_MS, attempts);

const waitAfter = (waits: readonly number[], attempts: number) =>
  waits[Math.min(Math.max(attempts, 1), waits.length) - 1]!;

/** Whether the link's time is over, whatever its status. */
export const isOver = ({ expiresAt }: Pick<Payment, 'expiresAt'>, now: Date): boolean =>
  Date.parse(expiresAt) <= now.getTime();

/** Whether a customer who opens the link can pay. */
export const isPayable = (payment: Payment, now: Date): boolean =>
  payment.status === 'open' && payment.confirmingSince === undefined && !isOver(payment, now);

/** Whether a bank's confirmation is so late that nobody waits for it any more. */
export const isConfirmationOverdue = (
  { expiresAt }: Pick<Payment, 'expiresAt'>,
  now: Date,
): boolean => Date.parse(expiresAt) + MAX_CONFIRMATION_MS <= now.getTime();

export const newWork = (task: PaymentWork['task'], now: Date): PaymentWork => ({
  task,
  attempts: 0,
  runAt: timestamp(now),
});

/**
 * The payment, cancelled; its provider is asked to close the page. Without the page's address there
 * is nothing to close: nobody knows a page that the provider may be making.
 */
export const cancel = (payment: Payment, now: Date): Payment => ({
  ...withoutWork({ ...payment, status: 'cancelled' }, now),
  work: payment.providerUrl === null ? null : newWork('expire', now),
});

/** What stands in place of a description that was removed with its contact. */
const CLEARED_DESCRIPTION = 'Removed';

/**
 * The payment without what was written about it: amount, times, provider and reference stay. A link
 * that could still be paid is cancelled. If somebody has paid all the same, that is recorded.
 */
export function clearPayment(payment: Payment, now: Date): Payment {
  const cleared = { ...payment, description: CLEARED_DESCRIPTION, error: null };
  return payment.status === 'open' || payment.status === 'creating'
    ? cancel(cleared, now)
    : cleared;
}

export const isCleared = ({ description, error, status }: Payment): boolean =>
  description === CLEARED_DESCRIPTION &&
  error === null &&
  status !== 'open' &&
  status !== 'creating';

/** The payment without a further request to its provider. */
export const withoutWork = (payment: Payment, now: Date): Payment => ({
  ...payment,
  work: null,
  updatedAt: timestamp(now),
});

const REFUSED_BY_BANK =
  "The customer's bank refused the payment, so nothing was paid. Make a new link.";

/** The link expired, or its provider closed its page. */
export const expire = (payment: Payment, now: Date): Payment =>
  endUnpaid(payment, { status: 'expired' }, now);

/** The customer's bank refused the payment. */
export const refuseByBank = (payment: Payment, now: Date): Payment =>
  endUnpaid(payment, { status: 'failed', error: REFUSED_BY_BANK }, now);

/** A cancelled link stays cancelled and needs no more work. A link that has ended stays as it is. */
function endUnpaid(
  payment: Payment,
  ending: Pick<Payment, 'status'> & Partial<Pick<Payment, 'error'>>,
  now: Date,
): Payment {
  if (payment.status === 'open') return withoutWork({ ...payment, ...ending }, now);
  if (payment.status !== 'cancelled') return payment;
  // No bank is awaited any more, and the page is closed.
  const { confirmingSince: _, ...cancelled } = payment;
  return { ...cancelled, work: null, error: null };
}

/** The customer has finished at the provider, and a bank still has to confirm. */
export function confirm<P extends Payment>(payment: P, now: Date): P {
  const canBePaid = payment.status === 'open' || payment.status === 'cancelled';
  if (!canBePaid || payment.confirmingSince !== undefined) return payment;
  return { ...payment, confirmingSince: timestamp(now), updatedAt: timestamp(now) };
}

export const paymentWebhookUrl = (
  publicUrl: string,
  { provider, id }: Pick<PaymentAccount, 'provider' | 'id'>,
): string => `${publicUrl}/api/payments/${provider}/webhook/${id}`;

/** What the customer opens to pay. */
export const paymentPageUrl = (
  { publicUrl, secrets }: Pick<Deps, 'publicUrl' | 'secrets'>,
  { sealedPageToken }: Pick<Payment, 'sealedPageToken'>,
): string => `${publicUrl()}/pay/${secrets.open(sealedPageToken)}`;

export type PaymentPageUrl = (payment: Payment) => string;

/** What a payment link is for. */
export interface PaymentLinkRequest {
  /** Minor units of the currency. */
  readonly amount: number;
  /** ISO 4217, lower case. */
  readonly currency: string;
  readonly description: string;
}
