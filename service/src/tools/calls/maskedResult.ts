import type { Contact } from '../../conversations/index.ts';
import { endOfString } from '../../platform/json.ts';
import { maskJson, maskText } from '../../platform/masking.ts';
import { resultOf, type ToolCall } from './toolCall.ts';

/** Masking reads this far beyond the cut, so that a number or address that spans it is masked too. */
const MARGIN_CHARACTERS = 1024;

/**
 * The beginning of a tool's result, as JSON text with the contact's details masked. The rest of a
 * long result is not read.
 * @param contact null masks nothing
 * @param maxBytes of UTF-8
 */
export function resultExcerpt(
  call: Pick<ToolCall, 'resultJson'>,
  contact: Contact | null,
  maxBytes: number,
): { readonly text: string; readonly isCut: boolean } {
  const json = call.resultJson ?? 'null';
  if (json.length > maxBytes) {
    // The n of an escaped line break would keep the mask from finding a number beside it.
    const start = json
      .slice(0, maxBytes + MARGIN_CHARACTERS)
      .replace(/\\(.)/g, (escape, letter: string) => ('nrt'.includes(letter) ? ' ' : escape))
      .toWellFormed();
    return {
      text: cutToBytes(contact === null ? start : maskText(start, contact), maxBytes),
      isCut: true,
    };
  }
  const whole = contact === null ? json : JSON.stringify(maskJson(resultOf(call), contact));
  const text = cutToBytes(whole, maxBytes);
  return { text, isCut: text.length < whole.length };
}

/** The beginning of a text: at most `maxBytes` of UTF-8, and whole characters only. */
function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= maxBytes
    ? text
    : new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true });
}

/** One turn masks about this many, in about 10 ms. A string is never divided between turns. */
const MAX_CHARACTERS_PER_TURN = 64 * 1024;

/** Runs a piece of work when the workspace's turn comes. */
export type InTurn = <T>(work: () => T) => Promise<T>;

/**
 * Does what `maskJson` does, on JSON text and piece by piece: parsing a large text as a whole would
 * take seconds. If two keys are equal once masked, both stay, and a parser keeps the later.
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
const NUMBER_CHARACTERS = /[\d+.Ee-]*/y;

/**
 * Masks about `MAX_CHARACTERS_PER_TURN` characters.
 * @param start an index outside of strings and numbers
 * @returns the masked text, and the index where the next piece starts
 */
function maskPiece(
  json: string,
  start: number,
  contact: Pick<Contact, 'phone' | 'email'>,
): { text: string; end: number } {
  let text = '';
  let copiedTo = start;
  let index = start;
  while (index < json.length && index - start < MAX_CHARACTERS_PER_TURN) {
    const end = endOfToken(json, index);
    const masked = end > index + 1 ? maskToken(json.slice(index, end), contact) : null;
    if (masked !== null) {
      text += json.slice(copiedTo, index) + masked;
      copiedTo = end;
    }
    index = end;
  }
  return { text: text + json.slice(copiedTo, index), end: index };
}

/** The index after the string, number or single character that begins at `index`. */
function endOfToken(json: string, index: number): number {
  const code = json.charCodeAt(index);
  if (code === QUOTE) return endOfString(json, index) + 1;
  if (code !== MINUS && !isDigit(code)) return index + 1;
  NUMBER_CHARACTERS.lastIndex = index;
  NUMBER_CHARACTERS.test(json);
  return NUMBER_CHARACTERS.lastIndex;
}

/** @returns the masked token, or null when it holds nothing to mask */
function maskToken(token: string, contact: Pick<Contact, 'phone' | 'email'>): string | null {
  const text = token.startsWith('"') ? (JSON.parse(token) as string) : token;
  const masked = maskText(text, contact);
  return masked === text ? null : JSON.stringify(masked);
}
