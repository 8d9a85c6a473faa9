import { patternFinder, type PatternWork } from '../../domain/linearPattern.ts';
import type { Found } from './dates.ts';

const MAX_FINDS = 50;

/**
 * What in a text matches a schema's `pattern`, in the order it is written. The expression was
 * written by someone else: it runs within the bounds of `linearPattern.ts`, and on what is left of
 * the turn's work. An expression that says `^…$` is looked for inside the text, as words of their
 * own.
 * @returns null when the engine does not know the expression (look-around, back references)
 * @throws PatternBudgetError
 */
export function matchesIn(
  text: string,
  pattern: string,
  work: PatternWork,
): readonly Found<string>[] | null {
  const checked = patternFinder(pattern, work);
  const sought = patternFinder(withoutAnchors(pattern), work);
  if (checked === null || sought === null) return null;
  return sought
    .find(text, MAX_FINDS)
    .filter(
      ({ value, at }) =>
        value.trim() !== '' && standsAlone(text, at, value.length) && checked.test(value),
    );
}

const withoutAnchors = (pattern: string) => pattern.replace(/^\^/, '').replace(/(?<!\\)\$$/, '');

/** `AB12` in `XAB123` is no match for `^[A-Z]{2}\d{2}$`. */
const standsAlone = (text: string, at: number, length: number) =>
  !(
    /[\p{L}\p{N}]$/u.test(text.slice(Math.max(0, at - 2), at)) &&
    /^[\p{L}\p{N}]/u.test(text.slice(at, at + 2))
  ) &&
  !(
    /^[\p{L}\p{N}]/u.test(text.slice(at + length, at + length + 2)) &&
    /[\p{L}\p{N}]$/u.test(text.slice(Math.max(at, at + length - 2), at + length))
  );
