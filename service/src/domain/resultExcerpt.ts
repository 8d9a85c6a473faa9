import type { Contact } from './contact.ts';
import { maskJson, maskText } from './masking.ts';
import { resultOf, type ToolCall } from './toolCall.ts';

/**
 * What is read beyond the cut, so that a number or an address that lies across it is masked as a
 * whole.
 */
const MARGIN = 1024;

/**
 * The beginning of what a tool answered, as JSON text with the contact's details masked. Of a long
 * result only the beginning is looked at, however long it is.
 * @param mostBytes of UTF-8
 * @param contact null: nothing is masked
 */
export function resultExcerpt(
  call: Pick<ToolCall, 'resultJson'>,
  contact: Contact | null,
  mostBytes: number,
): { readonly text: string; readonly isCut: boolean } {
  const json = call.resultJson ?? 'null';
  if (json.length > mostBytes) {
    // A line break written as an escape would stand between the digits of a number.
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

/** The beginning of a text, at most so many bytes of UTF-8, without half a character at its end. */
function cutToBytes(text: string, most: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= most
    ? text
    : new TextDecoder().decode(bytes.subarray(0, most), { stream: true });
}
