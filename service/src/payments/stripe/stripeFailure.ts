import type { Stripe } from 'stripe';
import type { Trouble } from '../paymentAdapter.ts';
import { shorten } from '../../platform/shorten.ts';

type StripeError = InstanceType<typeof Stripe.errors.StripeError>;

const MAX_MESSAGE_CHARACTERS = 300;

/**
 * Says why a call to Stripe failed, in a sentence for the team. The sentence never contains a key.
 * @param key the key of the call
 * @throws `error` itself when it is not one of Stripe's
 */
export function describeStripeFailure(error: unknown, key: string): Trouble {
  if (!isStripeError(error)) throw error;
  const { type, statusCode } = error;
  if (type === 'StripeConnectionError')
    return unreachable(`Stripe could not be reached${causeOf(error)}.`);
  if (type === 'StripeIdempotencyError')
    return refused(
      "Stripe has started this link's page with other data, since the service's address has changed. Make a new link.",
    );
  if (statusCode === 401)
    return refused(
      'Stripe does not accept the secret key. Copy it again from the Stripe dashboard, under Developers, API keys.',
    );
  if (statusCode === 403)
    return refused(
      `Stripe does not let the key do this: ${wordsOf(error, key)} A restricted key needs write permission for Checkout Sessions.`,
    );
  if (type === 'StripeRateLimitError')
    return unreachable('Stripe accepts no more requests at the moment.');
  if (statusCode === undefined) return unreachable("Stripe's answer could not be read.");
  if (statusCode === 409 || statusCode >= 500)
    return unreachable(`Stripe could not do this at the moment (status ${statusCode}).`);
  if (error.param === 'expires_at')
    return refused(
      'Stripe does not accept the time at which the page ends. Check the clock of the machine that the service runs on.',
    );
  return refused(`Stripe refused: ${wordsOf(error, key)}`);
}

/**
 * Whether Stripe failed midway and now repeats that error for the same Idempotency-Key.
 */
export const isReplayedFault = (error: unknown): boolean =>
  isStripeError(error) &&
  (error.statusCode ?? 0) >= 500 &&
  error.headers?.['idempotent-replayed'] === 'true';

const isStripeError = (error: unknown): error is StripeError =>
  error instanceof Error && 'type' in error && String(error.type).startsWith('Stripe');

const refused = (error: string): Trouble => ({ type: 'refused', error });
const unreachable = (error: string): Trouble => ({ type: 'unreachable', error });

/** The network error's code, such as ` (ECONNREFUSED)`. */
function causeOf({ detail }: StripeError): string {
  const inner = detail as { code?: unknown; cause?: { code?: unknown } } | undefined;
  const code = inner?.cause?.code ?? inner?.code;
  return typeof code === 'string' ? ` (${code})` : '';
}

/** Stripe's own message, without keys and as a sentence. */
function wordsOf({ message }: StripeError, key: string): string {
  const words = message
    .replaceAll(key, '[key]')
    .replace(/\b[sr]k_(live|test)_[^\s'"]+/g, '[key]')
    .replace(/\s+/g, ' ')
    .trim();
  if (words === '') return 'it gave no reason.';
  if (words.length > MAX_MESSAGE_CHARACTERS) return shorten(words, MAX_MESSAGE_CHARACTERS);
  return /[.!?]$/.test(words) ? words : `${words}.`;
}
