// The Stripe adapter and an account of the Stripe server of the tests.
import { afterEach, beforeEach } from '@jest/globals';
import { newId } from '../../../../service/src/platform/ids.ts';
import type { Payment } from '../../../../service/src/payments/payment.ts';
import type { OpenPaymentAccount } from '../../../../service/src/payments/paymentAdapter.ts';
import { stripe } from '../../../../service/src/payments/stripe/stripe.ts';
import { startStripeServer, type StripeServer } from '../../../helpers/stripeServer.ts';

export const PAGE_URL = 'https://pay.example.com/pay/token';
export const SECRET = 'whsec_0123456789abcdefABCDEF';
export const HOUR_S = 3600;

export const at = (ms: number) => new Date(ms).toISOString().replace('Z', '+00:00');

export function paymentOf(
  changes: Partial<Payment> = {},
  { lifeSeconds = 2 * HOUR_S, createdMs = Date.now() } = {},
): Payment {
  return {
    id: newId('pay'),
    workspaceId: newId('ws'),
    conversationId: newId('conv'),
    contactId: newId('ctc'),
    afterMessage: 1,
    status: 'creating',
    amount: 4900,
    currency: 'usd',
    description: 'Demo, one hour & more',
    provider: 'stripe',
    providerReference: null,
    providerUrl: null,
    pageTokenHash: 'hash',
    sealedPageToken: 'sealed',
    error: null,
    createdBy: { type: 'api', name: 'n8n' },
    expiresAt: at(createdMs + lifeSeconds * 1000),
    paidAt: null,
    markedPaidBy: null,
    work: { task: 'create', attempts: 1, runAt: at(createdMs) },
    checkedAt: null,
    createdAt: at(createdMs),
    updatedAt: at(createdMs),
    ...changes,
  };
}

export let server: StripeServer;

/** Starts a Stripe server for each test of a file. */
export function useStripeServer(): void {
  beforeEach(async () => {
    server = await startStripeServer();
  });
  afterEach(() => server.close());
}

export const accountWith = (values: Record<string, string>): OpenPaymentAccount => ({
  account: {
    id: newId('pac'),
    workspaceId: newId('ws'),
    provider: 'stripe',
    settings: {},
    sealedSecrets: {},
    lastTest: null,
    createdAt: at(0),
    updatedAt: at(0),
  },
  values,
});
export const account = () => accountWith({ secret_key: server.secretKey, webhook_secret: SECRET });
export const context = ({
  timeoutMs = 10_000,
  signal = new AbortController().signal,
  url = server.url,
} = {}) => ({ config: { stripeApiUrl: url, timeoutMs }, pageUrl: PAGE_URL, signal });
export const create = (payment: Payment, options?: Parameters<typeof context>[0]) =>
  stripe.create(payment, account(), context(options));
export const made = async (payment: Payment): Promise<Payment> => {
  const answer = await create(payment);
  if (answer.type !== 'created') throw new Error(JSON.stringify(answer));
  return {
    ...payment,
    status: 'open',
    providerReference: answer.reference,
    providerUrl: answer.url,
  };
};
