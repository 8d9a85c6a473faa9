import { z } from 'zod';
import { MAX_AMOUNT_MINOR, isCurrency } from '../platform/currency.ts';
import {
  MAX_PAYMENT_DESCRIPTION_CHARACTERS,
  MAX_REFERENCE_CHARACTERS,
  PAYMENT_PROVIDERS,
  PAYMENT_STATUSES,
} from './payment.ts';
import { operationsOf } from '../platform/http/operation.ts';
import {
  connectionTestSchema,
  settingsSchema,
  shownSettings,
} from '../platform/accounts/setupContract.ts';
import {
  actorSchema,
  listOf,
  oneOf,
  pageQuerySchema,
  textSchema,
  timestampSchema,
} from '../platform/http/schemas.ts';

const providerSchema = oneOf(PAYMENT_PROVIDERS);
const statusSchema = oneOf(PAYMENT_STATUSES);

const AMOUNT_HINT = `must be a whole number of minor units from 1 to ${MAX_AMOUNT_MINOR} (4900 is 49.00 USD, and 4900 JPY)`;

const amountSchema = z
  .int(AMOUNT_HINT)
  .min(1, AMOUNT_HINT)
  .max(MAX_AMOUNT_MINOR, AMOUNT_HINT)
  .meta({
    description:
      'The amount in minor units of the currency: 4900 is 49.00 USD, 4900 JPY or 4.900 KWD',
    example: 4900,
  });
const currencySchema = z
  .string('must be a string')
  .max(8, 'must be the three letters of a currency, such as usd')
  .transform((code) => code.toLowerCase())
  .refine(isCurrency, 'must be the three letters of a currency of ISO 4217, such as usd')
  .meta({ description: 'An ISO 4217 currency code, in any case', example: 'usd' });

const paymentLinkSchema = z
  .strictObject({
    id: z.string().meta({ example: 'pay_01JD6Z0000000000000000000A' }),
    conversation_id: z.string(),
    status: statusSchema.describe(
      "`creating`: the provider is preparing the payment page. `failed`: the provider refused to create it, or the customer's bank refused the payment.",
    ),
    amount: z.int(),
    currency: z.string(),
    amount_display: z.string().meta({
      description: "The amount for people to read, with the currency's decimals",
      example: 'US$49.00',
    }),
    description: z.string(),
    provider: providerSchema,
    provider_reference: z.string().nullable(),
    url: z.string().describe('The address that the customer opens to pay'),
    error: z
      .string()
      .nullable()
      .describe('Why the provider or a bank refused, or why the provider could not be reached'),
    created_by: actorSchema,
    expires_at: timestampSchema,
    paid_at: timestampSchema.nullable(),
    created_at: timestampSchema,
    updated_at: timestampSchema,
  })
  .meta({ id: 'PaymentLink' });

const accountSchema = z
  .strictObject({
    provider: providerSchema,
    ...shownSettings,
    webhook_url: z
      .string()
      .nullable()
      .describe("The address to enter in the provider's settings. Null for `manual`."),
    last_test: connectionTestSchema.nullable(),
    created_at: timestampSchema,
    updated_at: timestampSchema,
  })
  .meta({ id: 'PaymentAccount' });

const operation = operationsOf({ tag: 'Payments', auth: 'key', extension: true });

export const createPaymentLink = operation('POST /conversations/:id/payment-links', {
  addsToStore: 'data',
  summary: 'Create a payment link',
  description:
    'Creates a payment link in a conversation. The service does not send it: send its `url` as a message. Once the link is open, the funnel moves to `payment_pending`. When it is paid, the service emits `payment.paid` and the funnel moves to `customer`. The call waits up to 15 seconds for the provider to prepare its page; if that takes longer, the link has the status `creating`. Repeating the call with the same Idempotency-Key returns the same link with its current status.',
  body: z
    .strictObject({
      amount: amountSchema,
      currency: currencySchema,
      description: textSchema(MAX_PAYMENT_DESCRIPTION_CHARACTERS).describe(
        'What the customer pays for',
      ),
      provider: providerSchema
        .optional()
        .describe('Defaults to `stripe` if it is set up, otherwise to `manual`'),
      expires_in: z
        .int('must be a whole number of seconds')
        .min(60, 'must be at least 60')
        .optional()
        .describe(
          'Seconds until the link expires. `stripe`: 1800 to 86400, by default 86400. `manual`: 60 to 31536000, by default 30 days.',
        ),
    })
    .meta({ example: { amount: 4900, currency: 'usd', description: 'Demo, one hour' } }),
  status: 201,
  answer: paymentLinkSchema,
  errors: ['not_found', 'conversation_closed', 'payment_provider_missing', 'payment_refused'],
});

export const listPaymentLinks = operation('GET /payment-links', {
  summary: 'List payment links, newest first',
  query: pageQuerySchema.extend({
    conversation_id: z.string().optional(),
    status: statusSchema.optional(),
  }),
  answer: listOf(paymentLinkSchema),
});

export const getPaymentLink = operation('GET /payment-links/:id', {
  summary: 'Get a payment link',
  answer: paymentLinkSchema,
  errors: ['not_found'],
});

export const cancelPaymentLink = operation('POST /payment-links/:id/cancel', {
  summary: 'Cancel a payment link',
  description:
    'A cancelled link can no longer be paid. If the customer pays at the same moment, the payment counts. Cancelling a cancelled link changes nothing.',
  answer: paymentLinkSchema,
  errors: ['not_found', 'payment_not_open'],
});

export const markPaymentPaid = operation('POST /payment-links/:id/mark-paid', {
  summary: 'Mark a manual payment as paid',
  description:
    'Use it when the money has arrived outside of the service. The service emits `payment.paid` once, no matter how often you mark the link. You can mark an expired link too.',
  body: z
    .strictObject({
      reference: textSchema(MAX_REFERENCE_CHARACTERS)
        .nullish()
        .describe('How to find the payment: the number of a bank transfer, for example'),
    })
    .meta({ example: { reference: 'Transfer 2026-1182' } }),
  answer: paymentLinkSchema,
  errors: ['not_found', 'payment_not_open'],
});

export const listPaymentAccounts = operation('GET /payment-accounts', {
  summary: 'List the payment providers that are set up',
  query: pageQuerySchema,
  answer: listOf(accountSchema),
});

export const putPaymentAccount = operation('PUT /payment-accounts/:provider', {
  summary: 'Set up or update a payment provider',
  description:
    '`manual` takes `instructions`; `stripe` takes `secret_key` and `webhook_secret`. Fields that you leave out keep their values, secrets included.',
  body: z.strictObject({ settings: settingsSchema }).meta({
    example: {
      settings: {
        instructions: 'Transfer to DE00 0000 0000 0000 0000 00, with the number of your order.',
      },
    },
  }),
  answer: accountSchema,
  errors: ['not_found'],
  noIdempotencyKey: true,
});

export const deletePaymentAccount = operation('DELETE /payment-accounts/:provider', {
  summary: 'Remove a payment provider',
  description:
    'Open links stay as they are, and the service no longer learns whether they are paid. Cancel them first.',
  answer: z.strictObject({
    id: z.string().describe('The name of the provider'),
    deleted: z.literal(true),
  }),
  errors: ['not_found'],
});

export const testPaymentAccount = operation('POST /payment-accounts/:provider/test', {
  summary: "Test a payment provider's keys",
  answer: connectionTestSchema,
  errors: ['not_found'],
  noIdempotencyKey: true,
});
