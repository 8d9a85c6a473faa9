import type { Contact } from './contact.ts';
import { maskJson, maskText } from './masking.ts';
import { resultOf, type ToolCall } from './toolCall.ts';

/** Characters that are masked beyond the cut, so that a number or an address across it is masked too. */
const MARGIN = 1024;

/**
 * The beginning of a tool's result, as JSON text with the contact's details masked. It does not read
 * the rest of a long result.
 * @param contact null masks nothing
 * @param mostBytes of UTF-8
 */
export function resultExcerpt(
  call: Pick<ToolCall, 'resultJson'>,
  contact: Contact | null,
  mostBytes: number,
): { readonly text: string; readonly isCut: boolean } {
  const json = call.resultJson ?? 'null';
  if (json.length > mostBytes) {
    // An escaped line break, as a letter between two digits, would hide a number from the mask.
    const start = json
      .slice(0, mostBytes + MARGIN)
      .replace(/\\[nrt]/g, ' ')
      .toWellFormed();
    return {
      text: cutToBytes(contact === null ? start : maskText(start, contact), mostBytes),
      isCut: true,
    };
  }
  const whole = contact === null ? json : JSON.stringify(maskJson(resultOf(call), contact));
  const text = cutToBytes(whole, mostBytes);
  return { text, isCut: text.length < whole.length };
}

/** The beginning of a text: at most `most` bytes of UTF-8, and whole characters only. */
function cutToBytes(text: string, most: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= most
    ? text
    : new TextDecoder().decode(bytes.subarray(0, most), { stream: true });
}
