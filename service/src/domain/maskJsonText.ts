import type { Contact } from './contact.ts';
import { endOfString } from './json.ts';
import { maskText } from './masking.ts';

/** Characters that one turn masks, in about 10 ms. A string is never divided between turns. */
const MASKED_AT_ONCE = 64 * 1024;

/** Runs a piece of work when its turn comes. */
export type InTurn = <T>(work: () => T) => Promise<T>;

/**
 * As `maskJson`, for JSON text, piece by piece. It does not parse the whole text, which would take
 * seconds for a large one. If two keys are equal once masked, both stay, and a parser keeps the later.
 * @param json the output of `JSON.stringify`
 */
export async function maskJsonText(
  json: string,
  contact: Pick<Contact, 'phone' | 'email'>,
  inTurn: InTurn,
): Promise<string> {
  let masked = '';
  for (let start = 0; start < json.length; ) {
    const piece = await inTurn(() => maskPiece(json, start, contact));
    masked += piece.text;
    start = piece.end;
  }
  return masked;
}

const QUOTE = 0x22;
const MINUS = 0x2d;
const isDigit = (code: number) => code >= 0x30 && code <= 0x39;
/** The characters of a number. */
const OF_NUMBER = /[\d+.Ee-]*/y;

/**
 * Masks about `MASKED_AT_ONCE` characters.
 * @param start an index outside of strings and numbers
 * @returns the masked text, and the index where the next piece starts
 */
function maskPiece(
  json: string,
  start: number,
  contact: Pick<Contact, 'phone' | 'email'>,
): { text: string; end: number } {
  let text = '';
  let kept = start;
  let index = start;
  while (index < json.length && index - start < MASKED_AT_ONCE) {
    const end = endOfToken(json, index);
    const masked = end > index + 1 ? maskToken(json.slice(index, end), contact) : null;
    if (masked !== null) {
      text += json.slice(kept, index) + masked;
      kept = end;
    }
    index = end;
  }
  return { text: text + json.slice(kept, index), end: index };
}

/** The index after the string, number or single character that begins at `index`. */
function endOfToken(json: string, index: number): number {
  const code = json.charCodeAt(index);
  if (code === QUOTE) return endOfString(json, index) + 1;
  if (code !== MINUS && !isDigit(code)) return index + 1;
  OF_NUMBER.lastIndex = index;
  OF_NUMBER.test(json);
  return OF_NUMBER.lastIndex;
}

/** @returns the masked token, or null when it holds nothing to mask */
function maskToken(token: string, contact: Pick<Contact, 'phone' | 'email'>): string | null {
  const text = token.startsWith('"') ? (JSON.parse(token) as string) : token;
  const masked = maskText(text, contact);
  return masked === text ? null : JSON.stringify(masked);
}
