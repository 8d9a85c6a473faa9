import type { Stripe } from 'stripe';
import type { OpenPaymentAccount, PaymentContext, Trouble } from '../paymentAdapter.ts';
import { describeStripeFailure } from './stripeFailure.ts';

/**
 * The version that this code and the package's types are written for. A webhook may come in another
 * version: the fields that are read exist in all of them.
 */
const API_VERSION = '2026-10-28.endive';

/** Retries within one call, after a network error or a passing fault. The payment loop retries later. */
const NETWORK_RETRIES = 1;

/**
 * Calls Stripe with an account's key. The first call loads Stripe's package. `config.timeoutMs` is the
 * deadline of the whole call, with its retries.
 * @returns the result of `ask`, or why the call failed
 * @throws the signal's reason when the caller gives up
 */
export async function askStripe<T extends object>(
  { values }: OpenPaymentAccount,
  { config, signal }: Pick<PaymentContext, 'config' | 'signal'>,
  ask: (stripe: Stripe) => Promise<T>,
): Promise<T | Trouble> {
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
 * A client for one call, since only a client's fetch can be aborted from outside. Making one takes
 * about 0.1 ms.
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

/** A fetch that follows no redirect, so that the key goes to Stripe only. */
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
