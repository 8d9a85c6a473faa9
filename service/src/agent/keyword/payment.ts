import { CURRENCIES, formatAmount, parseAmount } from '../../platform/currency.ts';
import type { JsonObject } from '../../platform/json.ts';
import type { Language } from '../agentModel.ts';
import { cut } from './resultWording.ts';
import { sentence } from './sentences.ts';
import { anyOf, foldCase, wordSet } from '../../platform/reading/words.ts';
import { parseNumber } from '../../platform/reading/numbers.ts';
import type { Source } from './readArguments.ts';
import { isLabel, type Label } from './schema.ts';

const PAY = /\b(?:pay|payment|pagar|pago|pagamento)\b/;
const WISH = new RegExp(
  `\\b${anyOf(
    'want|like|need|can i|could i|how|link|send|make',
    'quiero|quisiera|necesito|puedo|podria|como|enlace|mand[ae](?:me)?|envi[ae](?:me)?',
    'quero|gostaria|preciso|posso',
  )}\\b`,
);
/** "Ya" and "já" are "already", but "now" after the verb. */
const DENIED =
  /\b(?:dont|do not|not|never|cant|cannot|nunca|nao|(?<!pagar )(?:ya|ja)|(?:ya|ja) (?:hace|pague|paguei)|already)\b/;
const NO = /\bno\b/;
/** In Portuguese, "no" is "in the". It counts where it is clearly a word of another language. */
const NO_AMONG_PORTUGUESE =
  /\bno(?= (?:quiero|quisiera|puedo|necesito|voy|pago|quero|posso|preciso|want|i)\b|\s*(?:[,.;!?]|$))/;

/** Whether the customer asks to pay, or to be sent a link for paying. */
export function asksToPay(text: string, language: Language): boolean {
  const words = foldCase(text);
  return (
    PAY.test(words) &&
    !DENIED.test(words) &&
    !(language === 'pt' ? NO_AMONG_PORTUGUESE : NO).test(words) &&
    (WISH.test(words) || moneyIn(text, language).length > 0)
  );
}

/** What a request to pay says so far. */
interface PaymentRequest {
  readonly arguments: JsonObject;
  /** The detail to ask the customer for; null when the link can be made. */
  readonly missing: Label | null;
  /** What the agent is about to do, in words for the customer. Empty while a detail is missing. */
  readonly action: string;
}

const amountLabel: Label = (language) => sentence('paymentAmount', language);
const descriptionLabel: Label = (language) => sentence('paymentDescription', language);

/** Whether our question was for a detail of a payment. */
export const asksForPaymentDetail = (asked: string): boolean =>
  isLabel(amountLabel, asked) || isLabel(descriptionLabel, asked);

const MAX_DESCRIPTION_CHARACTERS = 100;

/** Reads the amount and the purpose from what the customer wrote. @param sources the newest first */
export function readPayment(sources: readonly Source[], language: Language): PaymentRequest {
  const [money, another] =
    sources.map(({ text }) => moneyIn(text, language)).find(({ length }) => length > 0) ?? [];
  const answer = sources.find(({ asked }) => asked !== null && isLabel(descriptionLabel, asked));
  const purpose =
    answer?.text.trim() ??
    sources.map(({ text }) => purposeIn(text)).find((found) => found !== undefined);
  if (!money || another) return { arguments: {}, missing: amountLabel, action: '' };
  if (!purpose) return { arguments: {}, missing: descriptionLabel, action: '' };
  const description = cut(purpose, MAX_DESCRIPTION_CHARACTERS);
  const amount = formatAmount(parseAmount(String(money.amount), money.currency)!, money.currency);
  return {
    arguments: { ...money, description },
    missing: null,
    action: sentence('makePaymentLink', language, { amount, description }),
  };
}

/**
 * Captures more than a description holds, so that `cut` shows where it breaks off, and searches on
 * behind one.
 */
const PURPOSE =
  /\b(?:for|por|para|pela|pelo)\s+(?!(?:me|now|today|favor|pagar|mim|hoy|hoje)\b)(?=([^.,;:!?\n]{3,400}))[^.,;:!?\n]{3,100}/giu;
const POLITE_END =
  /(?:[\s,]+(?:please|now|today|por favor|gracias|thanks|obrigad[oa]|ahora|agora|hoy|hoje))+$/iu;

/** "for €50", "for the 2 of them" */
const BEGINS_WITH_AMOUNT = /^(?:\p{Sc}|.{0,5}\d)/u;

/** What the customer pays for ("… for the demo"), in their words. An amount is no purpose. */
const purposeIn = (text: string): string | undefined =>
  [...text.matchAll(PURPOSE)]
    .map((match) => match[1]!.replace(POLITE_END, '').trim())
    .find((purpose) => purpose.length > 2 && !BEGINS_WITH_AMOUNT.test(purpose));

// ---- Money

/** An amount of money as a customer writes it. */
interface Money {
  /** In the main unit. */
  readonly amount: number;
  /** ISO 4217, lower case. */
  readonly currency: string;
}

/** Codes that are words as well: "50 all", "50 pen". */
const CODES_THAT_ARE_WORDS = wordSet('all bob cup ern gel lak mad mop pen ron sos std top try');

/** Pesos and other names that several countries share do not say which currency is meant. */
const CURRENCY_NAMES: readonly (readonly [pattern: string, currency: string])[] = [
  ['u\\$s|us\\$|u\\$d|usd\\$|(?:us|american) dollars?|dollars?|bucks|dolar(?:es)?', 'usd'],
  ['euros?|€', 'eur'],
  ['reais|real|r\\$', 'brl'],
  ['pounds?(?: sterling)?|libras esterlinas|£', 'gbp'],
  ['pesos mexicanos|mexican pesos|mx\\$', 'mxn'],
  ['pesos argentinos|argentine pesos', 'ars'],
  ['pesos colombianos|colombian pesos', 'cop'],
  ['pesos chilenos|chilean pesos', 'clp'],
  ['pesos uruguayos|uruguayan pesos', 'uyu'],
  ['(?:nuevos )?soles|s/\\.?', 'pen'],
];
const WHOLE_NAMES = CURRENCY_NAMES.map(
  ([pattern, currency]) => [new RegExp(`^(?:${pattern})$`, 'u'), currency] as const,
);
const CODES = CURRENCIES.filter((code) => !CODES_THAT_ARE_WORDS.has(code)).join('|');
const ANY_CURRENCY = `(?:${CURRENCY_NAMES.map(([pattern]) => pattern).join('|')}|${CODES}|\\$)`;
const AMOUNT = new RegExp(
  `(?<![\\p{L}\\p{N}.,/#$-])(?:(?<before>${ANY_CURRENCY}) ?)?(?<number>\\d[\\d.,]*\\d|\\d)` +
    `(?:\\s?(?<after>${ANY_CURRENCY})(?![\\p{L}\\p{N}]))?(?![\\p{L}\\p{N}%/])`,
  'gu',
);

/**
 * The amounts of money in a text, each once: numbers with a currency beside them. `$` alone is the
 * US dollar in English, and says nothing in Spanish and Portuguese.
 */
export function moneyIn(text: string, language: Language): readonly Money[] {
  const found = [...foldCase(text).matchAll(AMOUNT)].flatMap(({ groups }) => {
    const written = groups?.after ?? groups?.before;
    const currency = written === undefined ? null : currencyOf(written, language);
    const amount = parseNumber(groups!.number!, language, false);
    if (currency === null || Number.isNaN(amount)) return [];
    return parseAmount(String(amount), currency) === null ? [] : [{ amount, currency }];
  });
  return [...new Map(found.map((money) => [`${money.amount} ${money.currency}`, money])).values()];
}

function currencyOf(written: string, language: Language): string | null {
  if (written === '$') return language === 'en' ? 'usd' : null;
  return WHOLE_NAMES.find(([pattern]) => pattern.test(written))?.[1] ?? written;
}
