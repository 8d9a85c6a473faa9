import type { Document } from '../store/store.ts';
import type { ConnectionTest } from './channel.ts';
import type { Actor } from './conversation.ts';
import type { SetupField } from './setupField.ts';

/**
 * A payment link made in a conversation, and the accounts that money goes to. What a provider does
 * is told by its adapter in src/payments.
 * @see design section 3, Payments and Payment objects
 */

export const PAYMENT_PROVIDERS = ['manual', 'stripe'] as const;
export type PaymentProvider = (typeof PAYMENT_PROVIDERS)[number];

/**
 *  `creating`: the provider is being asked for its page. `failed`: the provider has refused to make it, or the customer's bank to pay.
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
  /** How many messages the conversation had: the link stands behind that one in the thread. */
  readonly afterMessage: number;
  readonly status: PaymentStatus;
  /** Minor units of the currency. */
  readonly amount: number;
  /** ISO 4217, lower case. */
  readonly currency: string;
  readonly description: string;
  readonly provider: PaymentProvider;
  /**
   * The provider's own id (Stripe: of the Checkout Session); manual: what was noted when it was
   * marked paid.
   */
  readonly providerReference: string | null;
  /** Where the provider takes the money; null: on our own page. */
  readonly providerUrl: string | null;
  /** Of the token that names its public page: random, of no use for anything else. Unique. */
  readonly pageTokenHash: string;
  readonly sealedPageToken: string;
  /** Why the provider or a bank refused, or what it could not be asked for, in words. */
  readonly error: string | null;
  readonly createdBy: Actor;
  readonly expiresAt: string;
  readonly paidAt: string | null;
  /** Manual: who marked it paid. */
  readonly markedPaidBy: Actor | null;
  /** What the provider has still to be asked or told; null: nothing. */
  readonly work: PaymentWork | null;
  /** When its provider last said how it stands; null: never. */
  readonly checkedAt: string | null;
  /**
   * Since when the customer has finished at the provider and a bank has still to confirm; left out:
   * nothing of the kind is known.
   */
  readonly confirmingSince?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/**
 * One piece of work for the provider at a time; the payment's job in the queue is named after the
 * payment.
 */
export interface PaymentWork {
  /** `create` its page; `check` whether it was paid; `expire` its page there. */
  readonly task: 'create' | 'check' | 'expire';
  /** Tries begun so far. */
  readonly attempts: number;
  readonly runAt: string;
}

export const PAYMENT_QUEUE = 'payments';
export const MAX_PAYMENT_DESCRIPTION_CHARACTERS = 200;

/** A workspace's account with a provider; one for each. */
export interface PaymentAccount extends Document {
  readonly workspaceId: string;
  readonly provider: PaymentProvider;
  /** What is not secret, by the adapter's field names. */
  readonly settings: Readonly<Record<string, string>>;
  /** Sealed, by the adapter's field names. */
  readonly sealedSecrets: Readonly<Record<string, string>>;
  readonly lastTest: ConnectionTest | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** `confirming`: the customer has finished, and the money comes when their bank has agreed. */
export type PaymentStanding = 'open' | 'confirming' | 'paid' | 'expired';

/** What a provider says of a payment by itself. `failed`: the customer's bank has refused. */
export interface PaymentNews {
  readonly paymentId: string;
  /** The provider's own id, which must be the payment's. */
  readonly reference: string;
  readonly state: PaymentStanding | 'failed';
}

/** What the domain has to know of a provider. */
export interface PaymentRules {
  /** True: its page is made by the provider, with a piece of work. */
  readonly isRemote: boolean;
  /** Seconds that a link may live. */
  readonly expiresIn: { readonly min: number; readonly max: number; readonly default: number };
  /**
   * Why this provider cannot take it, as the end of a sentence that begins with the field (`must be
   * …`); null when it can.
   */
  refuse(wanted: {
    readonly amount: number;
    readonly currency: string;
  }): { readonly param: 'amount' | 'currency'; readonly message: string } | null;
}

/** What is known of every provider. */
export interface PaymentDirectory {
  /** The preferred one first. */
  readonly providers: readonly PaymentProvider[];
  rulesOf(provider: PaymentProvider): PaymentRules;
  /** What a team fills in to use it, in the order of the form. */
  fieldsOf(provider: PaymentProvider): readonly SetupField[];
}
