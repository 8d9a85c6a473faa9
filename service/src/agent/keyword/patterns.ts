import { RE2JS } from 're2js';
import type { Found } from './dates.ts';

const MAX_PATTERN = 1_000;
const MAX_FINDS = 50;

/**
 * What in a text matches a schema's `pattern`, in the order it is written. The expression was written
 * by someone else, so it runs in an engine whose time grows with the text's length and no faster.
 * An expression that says `^…$` is looked for inside the text, as words of their own.
 * @returns null when the engine does not know the expression (look-around, back references)
 */
export function matchesIn(text: string, pattern: string): readonly Found<string>[] | null {
  const checked = compile(pattern);
  const sought = compile(withoutAnchors(pattern));
  if (checked === null || sought === null) return null;
  const found: Found<string>[] = [];
  const matcher = sought.matcher(text);
  for (let finds = 0; finds < MAX_FINDS && matcher.find(); finds++) {
    const value = matcher.group() ?? '';
    const at = matcher.start();
    if (value.trim() !== '' && standsAlone(text, at, value.length) && checked.matcher(value).find()) found.push({ value, at });
  }
  return found;
}

function compile(pattern: string): RE2JS | null {
  if (pattern.length > MAX_PATTERN) return null;
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch {
    return null;
  }
}

const withoutAnchors = (pattern: string) => pattern.replace(/^\^/, '').replace(/(?<!\\)\$$/, '');

/** `AB12` in `XAB123` is no match for `^[A-Z]{2}\d{2}$`. */
const standsAlone = (text: string, at: number, length: number) =>
  !(/[\p{L}\p{N}]$/u.test(text.slice(Math.max(0, at - 2), at)) && /^[\p{L}\p{N}]/u.test(text.slice(at, at + 2))) &&
  !(/^[\p{L}\p{N}]/u.test(text.slice(at + length, at + length + 2)) && /[\p{L}\p{N}]$/u.test(text.slice(Math.max(at, at + length - 2), at + length)));
