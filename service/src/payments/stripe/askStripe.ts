import type { Stripe } from 'stripe';
import type { OpenPaymentAccount, PaymentContext } from '../paymentAdapter.ts';
import { describeStripeFailure, type StripeTrouble } from './stripeFailure.ts';

/**
 * What this code was written for, and what the package's types say; the webhook's fields that are
 * read are in every version.
 */
const API_VERSION = '2026-10-28.endive';

/**
 * Of a broken connection or a passing fault, within one call; the payment loop tries again later.
 */
const NETWORK_RETRIES = 1;

/**
 * Asks Stripe with an account's key. Its package is loaded by the first call and not before. One
 * deadline (config.timeoutMs) covers the whole call, its retries included.
 * @returns what `ask` came to, or why it did not
 * @throws the reason of context.signal when the caller gave up
 */
export async function askStripe<T extends object>(
  { values }: OpenPaymentAccount,
  { config, signal }: Pick<PaymentContext, 'config' | 'signal'>,
  ask: (stripe: Stripe) => Promise<T>,
): Promise<T | StripeTrouble> {
  signal.throwIfAborted();
  const key = values.secret_key ?? '';
  const tooLate = AbortSignal.timeout(config.timeoutMs);
  const end = AbortSignal.any([signal, tooLate]);
  try {
    return await untilAborted(
      openClient(key, config.stripeApiUrl, config.timeoutMs, end).then(ask),
      end,
    );
  } catch (error) {
    signal.throwIfAborted();
    if (tooLate.aborted)
      return {
        type: 'unreachable',
        error: `Stripe did not answer within ${config.timeoutMs / 1000} s.`,
      };
    return describeStripeFailure(error, key);
  }
}

/**
 * A client for one call, since only its fetch can be ended from outside; making one takes a tenth
 * of a millisecond.
 */
async function openClient(
  key: string,
  apiUrl: string,
  timeoutMs: number,
  end: AbortSignal,
): Promise<Stripe> {
  const { Stripe: Client } = await import('stripe');
  const { protocol, hostname, port } = new URL(apiUrl);
  const isPlain = protocol === 'http:';
  return new Client(key, {
    apiVersion: API_VERSION,
    protocol: isPlain ? 'http' : 'https',
    host: hostname,
    port: port === '' ? (isPlain ? 80 : 443) : Number(port),
    timeout: timeoutMs,
    maxNetworkRetries: NETWORK_RETRIES,
    telemetry: false,
    httpClient: Client.createFetchHttpClient(fetchUntil(end)),
  });
}

/** Follows no redirect: the key goes to Stripe's address alone. */
const fetchUntil =
  (end: AbortSignal): typeof fetch =>
  (input, init) =>
    fetch(input, {
      ...init,
      redirect: 'manual',
      signal: init?.signal ? AbortSignal.any([init.signal, end]) : end,
    });

/** @throws the signal's reason */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason as Error);
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}
