import { formatAmount, parseAmount } from '../../domain/currency.ts';
import type { JsonObject } from '../../domain/json.ts';
import { LANGUAGES, type Language } from '../agentModel.ts';
import { sentence } from '../sentences.ts';
import { cut } from '../resultWording.ts';
import { foldCase } from '../words.ts';
import { moneyIn } from './numbers.ts';
import type { Source } from './readArguments.ts';

const PAY = /\b(?:pay|payment|pagar|pago|pagamento)\b/;
const WISH =
  /\b(?:want|like|need|can i|could i|how|link|send|make|quiero|quisiera|necesito|puedo|podria|como|enlace|mand[ae](?:me)?|envi[ae](?:me)?|quero|gostaria|preciso|posso)\b/;
const DENIED = /\b(?:dont|do not|not|never|cant|cannot|no|nunca|nao|ya|already|ja)\b/;
const MAX_DESCRIPTION_CHARACTERS = 100;
const PURPOSE =
  /\b(?:for|por|para|pela|pelo)\s+(?!(?:me|now|today|favor|pagar|mim|hoy|hoje)\b)([^.,;:!?\n]{3,100})/giu;
const POLITE_END =
  /(?:[\s,]+(?:please|now|today|por favor|gracias|thanks|obrigad[oa]|ahora|agora|hoy|hoje))+$/iu;

/** What a request to pay says so far. */
export interface PaymentRequest {
  readonly arguments: JsonObject;
  /** The label of what has to be asked for; null when the link can be made. */
  readonly missing: string | null;
  /** What is done, in words for the customer. */
  readonly action: string;
}

/** Whether the customer asks to pay, or to be sent a link for paying. */
export function asksToPay(text: string, language: Language): boolean {
  const words = foldCase(text);
  return (
    PAY.test(words) &&
    !DENIED.test(words) &&
    (WISH.test(words) || moneyIn(text, language).length > 0)
  );
}

type Label = 'paymentAmount' | 'paymentDescription';
const isLabel = (asked: string | null, name: Label) =>
  LANGUAGES.some((language) => sentence(name, language) === asked);

/** Whether our question was for a detail of a payment. */
export const asksForPaymentDetail = (asked: string): boolean =>
  isLabel(asked, 'paymentAmount') || isLabel(asked, 'paymentDescription');

/** Amount and purpose from what the customer wrote. @param sources the newest first */
export function readPayment(sources: readonly Source[], language: Language): PaymentRequest {
  const [money] = sources
    .map(({ text }) => moneyIn(text, language))
    .filter((found) => found.length > 0)
    .map((found) => (found.length === 1 ? found[0] : undefined));
  const description =
    sources.find(({ asked }) => isLabel(asked, 'paymentDescription'))?.text.trim() ??
    sources.map(({ text }) => purposeIn(text)).find((purpose) => purpose !== null);
  if (money === undefined)
    return { arguments: {}, missing: sentence('paymentAmount', language), action: '' };
  if (!description)
    return { arguments: {}, missing: sentence('paymentDescription', language), action: '' };
  const args = { ...money, description: cut(description, MAX_DESCRIPTION_CHARACTERS) };
  const amountMinor = parseAmount(String(money.amount), money.currency)!;
  const amount = formatAmount(amountMinor, money.currency);
  return {
    arguments: args,
    missing: null,
    action: sentence('makePaymentLink', language, { amount, description: args.description }),
  };
}

/** "… for the demo": what is paid for, in the customer's words; not the money itself. */
function purposeIn(text: string): string | null {
  const purposes = [...text.matchAll(PURPOSE)]
    .map((match) => match[1]!.replace(POLITE_END, '').trim())
    .filter((purpose) => purpose.length > 2 && !/^\p{Sc}|\d/u.test(purpose.slice(0, 6)));
  return purposes[0] ?? null;
}
