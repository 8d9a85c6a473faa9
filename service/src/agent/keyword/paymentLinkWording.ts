import { CREATE_PAYMENT_LINK } from '../../domain/builtInTools.ts';
import { isJsonObject, type Json } from '../../domain/json.ts';
import type { Language, PastToolCall } from '../agentModel.ts';
import { sentence } from '../sentences.ts';

/** A payment link, and the words with which the customer is given it. */
export interface MadeLink {
  readonly url: string;
  readonly words: string;
}

/** The link that a call has made; null when it has made none. */
export function madeLink(
  { tool, status, outcome }: PastToolCall,
  language: Language,
): MadeLink | null {
  if (tool !== CREATE_PAYMENT_LINK || status !== 'succeeded') return null;
  const result = parse(outcome);
  if (!isJsonObject(result) || typeof result.url !== 'string') return null;
  const { url, amount_display: amount, description } = result;
  return {
    url,
    words: sentence('paymentLink', language, {
      url,
      amount: String(amount),
      description: String(description),
    }),
  };
}

/** What is shown of an older result may be cut, and then is no JSON. */
function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}
