import type { Document } from '../store/store.ts';
import type { ConnectedAccount, SetupField } from './accountSetup.ts';
import type { Actor } from './conversation.ts';

/**
 * Payment links, and the accounts that money goes to. What a provider can do is in its adapter in
 * src/payments.
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
  /** The provider's id, such as Stripe's Checkout Session; manual: noted with the payment. */
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
  /** What the provider still has to be asked or told; null when nothing. */
  readonly work: PaymentWork | null;
  /** When its provider last told the state; null when never. */
  readonly checkedAt: string | null;
  /** When the customer finished at the provider, while a bank still has to confirm. */
  readonly confirmingSince?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** What its provider is to do next. The payment's job in the queue has the payment's id. */
export interface PaymentWork {
  /** `create` its page; `check` whether it was paid; `expire` its page there. */
  readonly task: 'create' | 'check' | 'expire';
  /** Attempts begun so far. */
  readonly attempts: number;
  readonly runAt: string;
}

export const PAYMENT_QUEUE = 'payments';
export const MAX_PAYMENT_DESCRIPTION_CHARACTERS = 200;

/** A workspace's account with a provider; one per provider. */
export interface PaymentAccount extends ConnectedAccount {
  readonly provider: PaymentProvider;
}

/** `confirming`: the customer has finished, and their bank still has to confirm. */
export type PaymentStanding = 'open' | 'confirming' | 'paid' | 'expired';

/** A provider's update about a payment. `failed`: the customer's bank refused. */
export interface PaymentUpdate {
  readonly paymentId: string;
  /** The provider's id, which must be the payment's. */
  readonly reference: string;
  readonly state: PaymentStanding | 'failed';
}

/** What the domain needs to know about a provider. */
export interface PaymentRules {
  /** True when the provider makes the page. */
  readonly isRemote: boolean;
  /** How long a link may be open, in seconds. */
  readonly expiresIn: { readonly min: number; readonly max: number; readonly default: number };
  /** Why this provider cannot take it, to follow the field's name (`must be …`); null if it can. */
  refuse(wanted: {
    readonly amount: number;
    readonly currency: string;
  }): { readonly param: 'amount' | 'currency'; readonly message: string } | null;
}

/** Every provider. */
export interface PaymentDirectory {
  /** In order of preference. */
  readonly providers: readonly PaymentProvider[];
  rulesOf(provider: PaymentProvider): PaymentRules;
  /** The fields of its form, in order. */
  fieldsOf(provider: PaymentProvider): readonly SetupField[];
}
