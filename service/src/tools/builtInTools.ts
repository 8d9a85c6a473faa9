import { amountHint, formatAmount, isCurrency, parseAmount } from '../platform/currency.ts';
import type { JsonObject } from '../platform/json.ts';
import { compileParameters } from './definition/parametersSchema.ts';
import {
  MAX_PAYMENT_DESCRIPTION_CHARACTERS,
  paymentAdapterOf,
  type PaymentLinkRequest,
  type Payment,
  type PaymentProvider,
} from '../payments/index.ts';

/**
 * Tools that the service carries out itself, without an endpoint. Their calls are requested,
 * approved and reported like those of the workspace's own tools.
 * @see docs/decisions/0018-the-agent-makes-payment-links.md
 */

/** The hyphen keeps it apart from custom tools, whose names have none. */
export const CREATE_PAYMENT_LINK = 'create-payment-link';

export interface BuiltInTool {
  readonly name: typeof CREATE_PAYMENT_LINK;
  readonly description: string;
  /** JSON Schema 2020-12. */
  readonly parameters: JsonObject;
  /** Where the money goes: a person who approves a call approves this too. */
  readonly provider: PaymentProvider;
  readonly askBeforeRunning: boolean;
}

const PAYMENT_LINK_PARAMETERS: JsonObject = {
  type: 'object',
  properties: {
    amount: {
      type: 'number',
      exclusiveMinimum: 0,
      title: 'Amount',
      description: "In the currency's main unit: 49.9 is 49 dollars and 90 cents.",
    },
    currency: {
      type: 'string',
      pattern: '^[A-Za-z]{3}$',
      title: 'Currency',
      description: 'Three letters of ISO 4217, such as USD.',
    },
    description: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_PAYMENT_DESCRIPTION_CHARACTERS,
      title: 'For',
      description: 'What is paid for; the customer reads it where they pay.',
    },
  },
  required: ['amount', 'currency', 'description'],
};

export const paymentLinkTool = (
  provider: PaymentProvider,
  askBeforeRunning: boolean,
): BuiltInTool => ({
  name: CREATE_PAYMENT_LINK,
  description:
    'Makes a link with which the customer pays an amount of money online. Call it when the customer has agreed to pay, and the price is known from the team or from another tool. The result has the url that the customer opens.',
  parameters: PAYMENT_LINK_PARAMETERS,
  provider,
  askBeforeRunning,
});

/**
 * The normalised arguments with the link that they ask for, or why they cannot be used, in a sentence
 * for the model.
 */
type ReadPaymentLink =
  | { readonly problem: null; readonly arguments: JsonObject; readonly request: PaymentLinkRequest }
  | { readonly problem: string };

/** Reads the arguments of a call for a link of this provider. */
export function readPaymentLink(args: unknown, provider: PaymentProvider): ReadPaymentLink {
  const problem = compileParameters(PAYMENT_LINK_PARAMETERS).check(args);
  if (problem !== null) return { problem };
  const given = args as { amount: number; currency: string; description: string };
  const currency = given.currency.toLowerCase();
  const description = given.description.trim();
  if (!isCurrency(currency))
    return { problem: 'arguments.currency must be a currency of ISO 4217, such as USD.' };
  if (description === '' || !description.isWellFormed() || description.includes('\0'))
    return { problem: 'arguments.description must say what is paid for.' };
  // JavaScript writes a number back as the model wrote it: 49.9 is "49.9".
  const amount = parseAmount(String(given.amount), currency);
  if (amount === null) return { problem: `arguments.amount ${amountHint(currency)}.` };
  const refused = paymentAdapterOf(provider).refuse(amount, currency);
  if (refused) return { problem: `arguments.${refused.param} ${refused.message}.` };
  return {
    problem: null,
    arguments: { amount: given.amount, currency, description },
    request: { amount, currency, description },
  };
}

/**
 * The result of a call that made a link. The amount is the one that the call asked for, in the main
 * unit.
 */
export const paymentLinkResult = (
  payment: Payment,
  { amount = null }: JsonObject,
  url: string,
): JsonObject => ({
  payment_link_id: payment.id,
  url,
  amount,
  currency: payment.currency,
  amount_display: formatAmount(payment.amount, payment.currency),
  description: payment.description,
  expires_at: payment.expiresAt,
});
