import type { ConnectionTest } from '../domain/channel.ts';
import type {
  Payment,
  PaymentAccount,
  PaymentUpdate,
  PaymentProvider,
  PaymentRules,
  PaymentStanding,
} from '../domain/payment.ts';
import type { SetupField, SetupValues } from '../domain/accountSetup.ts';

/**
 * One payment provider, in one file: what it can take, what a team fills in to use it and, when it
 * takes the money itself, how its page is made, watched and verified. Registered in registry.ts.
 */
export type PaymentAdapter = ManualProvider | RemoteProvider;

interface Named {
  readonly provider: PaymentProvider;
  readonly label: string;
  readonly rules: PaymentRules;
  readonly fields: readonly SetupField[];
}

/** Money that reaches the workspace outside of the service: a person marks it paid. */
export interface ManualProvider extends Named {
  readonly isRemote: false;
}

/** A provider with pages and a webhook of its own. */
export interface RemoteProvider extends Named {
  readonly isRemote: true;
  /**
   * What a team does in the provider's own settings, beside the webhook address, a sentence or two
   * each.
   */
  readonly setupSteps?: readonly string[];
  /**
   * Makes the page where the customer pays; the same payment twice is one page. Never rejects but
   * by the signal.
   */
  create(
    payment: Payment,
    account: OpenPaymentAccount,
    context: PaymentContext,
  ): Promise<CreateResult>;
  /** Asks how a payment stands. */
  check(
    payment: Payment,
    account: OpenPaymentAccount,
    context: PaymentContext,
  ): Promise<CheckResult>;
  /** Closes the page, so that it can no longer be paid. */
  expire(
    payment: Payment,
    account: OpenPaymentAccount,
    context: PaymentContext,
  ): Promise<CheckResult>;
  /** Reads a webhook; changes nothing. Null when the signature is not the account's. */
  readWebhook(
    request: {
      readonly rawBody: Buffer;
      readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
    },
    account: OpenPaymentAccount,
  ): Promise<readonly PaymentUpdate[] | null>;
  /** Asks the provider whether it takes the account's keys. */
  test(account: OpenPaymentAccount, context: PaymentContext): Promise<Omit<ConnectionTest, 'at'>>;
}

/** An account with its secrets in the clear, for the time of a call. */
export interface OpenPaymentAccount {
  readonly account: PaymentAccount;
  readonly values: SetupValues;
}

export interface PaymentContext {
  readonly config: PaymentsConfig;
  /** Where the customer comes back to. */
  readonly pageUrl: string;
  readonly signal: AbortSignal;
}

/** What the environment says of other people's services. */
export interface PaymentsConfig {
  /** `https://api.stripe.com` */
  readonly stripeApiUrl: string;
  readonly timeoutMs: number;
}

/**
 *  `refused`: asking again cannot help; `unreachable`: it may. Errors are in words, for the team.
 */
type Trouble = { readonly type: 'refused' | 'unreachable'; readonly error: string };
export type CreateResult =
  | { readonly type: 'created'; readonly reference: string; readonly url: string }
  | Trouble;
export type CheckResult =
  | { readonly type: Exclude<PaymentStanding, 'paid'> }
  | { readonly type: 'paid' }
  | Trouble;
