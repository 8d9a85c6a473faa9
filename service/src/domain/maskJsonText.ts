import type { Contact } from './contact.ts';
import { endOfString } from './json.ts';
import { maskText } from './masking.ts';

/**
 * How many characters are masked before others have their turn: some 10 ms. One string is not
 * divided.
 */
const MASKED_AT_ONCE = 64 * 1024;

/** Does a piece of work when its turn comes. */
export type InTurn = <T>(work: () => T) => Promise<T>;

/**
 * As `maskJson`, of JSON text: it is not made a value, which takes seconds for a large one, and is
 * masked piece by piece. Two keys that become one both stay; a reader of JSON keeps the later.
 * @param json as `JSON.stringify` gives it
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
/** What a number goes on with: digits, `+`, `-`, `.`, `E` and `e`. */
const OF_NUMBER = /[\d+.Ee-]*/y;

/** @param start where no string and no number is open; so is `end` */
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

/** The index behind the string, the number or the character that begins there. */
function endOfToken(json: string, index: number): number {
  const code = json.charCodeAt(index);
  if (code === QUOTE) return endOfString(json, index) + 1;
  if (code !== MINUS && !isDigit(code)) return index + 1;
  OF_NUMBER.lastIndex = index;
  OF_NUMBER.test(json);
  return OF_NUMBER.lastIndex;
}

/** @returns null when nothing is masked in it */
function maskToken(token: string, contact: Pick<Contact, 'phone' | 'email'>): string | null {
  const text = token.startsWith('"') ? (JSON.parse(token) as string) : token;
  const masked = maskText(text, contact);
  return masked === text ? null : JSON.stringify(masked);
}
