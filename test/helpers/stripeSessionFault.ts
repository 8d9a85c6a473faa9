// What Stripe refuses when a Checkout Session is made. docs.stripe.com: "Create a Checkout
// Session", "Supported currencies"
import type { Form } from './stripeForm.ts';

export interface StripeFault {
  readonly type?: string;
  readonly code?: string;
  readonly message: string;
  readonly param?: string;
}

/** A selection of the currencies that Stripe supports. */
const CURRENCIES = [
  'usd',
  'eur',
  'gbp',
  'jpy',
  'kwd',
  'bhd',
  'isk',
  'ugx',
  'mga',
  'huf',
  'twd',
  'inr',
  'idr',
  'cop',
  'chf',
  'brl',
];
const PARAMETERS = [
  'mode',
  'line_items',
  'metadata',
  'payment_intent_data',
  'client_reference_id',
  'expires_at',
  'success_url',
  'cancel_url',
];
const MAX_METADATA_CHARACTERS = 500;

/** Null when Stripe would take it. */
export function sessionFault(form: Form, nowMs: number): StripeFault | null {
  const unknown = Object.keys(form).find((name) => !PARAMETERS.includes(name));
  if (unknown)
    return {
      code: 'parameter_unknown',
      message: `Received unknown parameter: ${unknown}`,
      param: unknown,
    };
  if (form.mode !== 'payment')
    return { code: 'parameter_missing', message: 'Missing required param: mode.', param: 'mode' };
  return (
    itemFault(form) ??
    metadataFault(form) ??
    urlFault(form, 'success_url') ??
    urlFault(form, 'cancel_url') ??
    expiryFault(form, nowMs)
  );
}

function itemFault(form: Form): StripeFault | null {
  const item = (form.line_items as Form | undefined)?.['0'] as Form | undefined;
  const price = item?.price_data as Form | undefined;
  if (!price)
    return {
      code: 'parameter_missing',
      message: 'Missing required param: line_items.',
      param: 'line_items',
    };
  const currency = String(price.currency);
  if (!CURRENCIES.includes(currency)) {
    return {
      message: `Invalid currency: ${currency}. Stripe currently supports these currencies: ${CURRENCIES.join(', ')}`,
      param: 'line_items[0][price_data][currency]',
    };
  }
  const amount = Number(price.unit_amount);
  if (!/^\d+$/.test(String(price.unit_amount)) || !/^[1-9]\d*$/.test(String(item?.quantity)))
    return {
      code: 'parameter_invalid_integer',
      message: 'Invalid integer',
      param: 'line_items[0]',
    };
  if (['isk', 'ugx'].includes(currency) && amount % 100 !== 0) {
    return {
      code: 'invalid_charge_amount_no_decimal_compatible',
      message: `Invalid amount. Currency ${currency.toUpperCase()} has become effectively zero-decimal and charged amounts must be evenly divisible by 100.`,
    };
  }
  if (['kwd', 'bhd'].includes(currency) && amount % 10 !== 0)
    return { message: 'Invalid amount. The last digit must be 0.' };
  if (amount < 50)
    return {
      code: 'amount_too_small',
      message: "The Checkout Session's total amount must convert to at least 50 cents.",
    };
  return (price.product_data as Form | undefined)?.name
    ? null
    : {
        code: 'parameter_missing',
        message: 'Missing required param: line_items[0][price_data][product_data][name].',
      };
}

function metadataFault({ metadata }: Form): StripeFault | null {
  const long = Object.entries((metadata ?? {}) as Form).find(
    ([, value]) => String(value).length > MAX_METADATA_CHARACTERS,
  );
  return long
    ? {
        message: `Metadata values can have up to ${MAX_METADATA_CHARACTERS} characters`,
        param: `metadata[${long[0]}]`,
      }
    : null;
}

function urlFault(form: Form, name: 'success_url' | 'cancel_url'): StripeFault | null {
  return URL.canParse(String(form[name]))
    ? null
    : { code: 'url_invalid', message: 'Not a valid URL', param: name };
}

function expiryFault({ expires_at }: Form, nowMs: number): StripeFault | null {
  if (expires_at === undefined) return null;
  const seconds = Number(expires_at) - nowMs / 1000;
  if (seconds < 30 * 60)
    return {
      message:
        'The `expires_at` timestamp must be at least 30 minutes from Checkout Session creation.',
      param: 'expires_at',
    };
  if (seconds > 24 * 60 * 60)
    return {
      message:
        'The `expires_at` timestamp must be less than 24 hours from Checkout Session creation.',
      param: 'expires_at',
    };
  return null;
}
