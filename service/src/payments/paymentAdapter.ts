import type {
  Payment,
  PaymentAccount,
  PaymentUpdate,
  PaymentProvider,
  RemoteState,
} from './payment.ts';
import type { SetupField, SetupValues, TestResult } from '../platform/accounts/accountSetup.ts';

/**
 * A payment provider: which payments it accepts, what a team fills in to use it and, if it hosts the
 * payment page, how the service makes, checks and closes that page. Adapters are listed in
 * registry.ts.
 */
export type PaymentAdapter = ManualProvider | RemoteProvider;

interface ProviderBase {
  readonly provider: PaymentProvider;
  readonly label: string;
  /** How long a link may be open, in seconds. */
  readonly expiresIn: { readonly min: number; readonly max: number; readonly default: number };
  /** Null if the provider takes the amount. `message` follows the field's name: `must be …`. */
  refuse(
    amountMinor: number,
    currency: string,
  ): { readonly param: 'amount' | 'currency'; readonly message: string } | null;
  readonly fields: readonly SetupField[];
}

/** The customer pays outside of the service, and a person marks the payment paid. */
export interface ManualProvider extends ProviderBase {
  readonly isRemote: false;
}

/** A request to the provider about one payment. */
type AskProvider<Result> = (
  payment: Payment,
  account: OpenPaymentAccount,
  context: PaymentContext,
) => Promise<Result>;

/** A provider that hosts the payment page and reports by webhook. */
export interface RemoteProvider extends ProviderBase {
  readonly isRemote: true;
  /** What the team does in the provider's dashboard to receive webhooks: one or two sentences each. */
  readonly setupSteps: readonly string[];
  /**
   * Makes the page where the customer pays. A second call for the same payment returns the same page.
   * @throws only the signal's reason
   */
  create: AskProvider<CreateResult>;
  /** Asks the provider for the payment's status. */
  check: AskProvider<CheckResult>;
  /** Closes the page, so that it can no longer be paid. */
  expire: AskProvider<CheckResult>;
  /**
   * Verifies and reads a webhook, and changes nothing.
   * @returns null when it is not signed with the account's secret
   */
  readWebhook(
    request: {
      readonly rawBody: Buffer;
      readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
    },
    account: OpenPaymentAccount,
  ): Promise<readonly PaymentUpdate[] | null>;
  /** Asks the provider whether it accepts the account's keys. */
  test(account: OpenPaymentAccount, context: PaymentContext): Promise<TestResult>;
}

/** An account with its secrets in plain text, kept only for one call. */
export interface OpenPaymentAccount {
  readonly account: PaymentAccount;
  readonly values: SetupValues;
}

export interface PaymentContext {
  readonly config: PaymentsConfig;
  /** The service's own payment page, which the customer comes back to. */
  readonly pageUrl: string;
  readonly signal: AbortSignal;
}

/** Settings of the providers' APIs, from environment variables. */
export interface PaymentsConfig {
  /** `https://api.stripe.com` */
  readonly stripeApiUrl: string;
  readonly timeoutMs: number;
}

/**
 * `refused`: asking again does not help. `unreachable`: asking again may help. `error` is a sentence
 * for the team.
 */
export type Trouble = { readonly type: 'refused' | 'unreachable'; readonly error: string };
export type CreateResult =
  | { readonly type: 'created'; readonly reference: string; readonly url: string }
  | Trouble;
/** `paid` stands alone, so that `Exclude` can take it out. */
export type CheckResult =
  | { readonly type: Exclude<RemoteState, 'paid'> }
  | { readonly type: 'paid' }
  | Trouble;
