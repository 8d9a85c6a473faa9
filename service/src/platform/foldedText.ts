import { remember } from './remember.ts';

/**
 * Finds patterns in a text, however its characters are written, and replaces them in the text as
 * typed. It searches a folded copy of the text, its shadow. In the shadow, full-width and other
 * compatibility forms, the digits of every script and the escapes of a link become plain ASCII.
 * Invisible characters and separate accents are left out, and any other sign that is not a letter
 * becomes a space. A `•` stays, so that masked details are recognised.
 */

/** A global pattern, written for the shadow, and the replacement of each match. */
export type Replacement = readonly [pattern: RegExp, replace: (match: RegExpExecArray) => string];

/** Replaces the matches. Everything else stays as typed. */
export const replaceFolded = (text: string, replacements: readonly Replacement[]): string =>
  replacements.reduce(replaceIn, shadowOf(text)).typed;

/**
 * Code unit `i` of `text` was folded from `typed`, between `starts[i]` and `ends[i]`. The arrays
 * are left out if both texts are equal.
 */
interface Shadow {
  readonly typed: string;
  readonly text: string;
  readonly starts?: readonly number[];
  readonly ends?: readonly number[];
}

function replaceIn(shadow: Shadow, [pattern, replace]: Replacement): Shadow {
  // Most texts hold nothing to replace, and `search` is much cheaper than `matchAll`.
  if (shadow.text.search(pattern) === -1) return shadow;
  let replaced = '';
  let copied = 0;
  for (const match of shadow.text.matchAll(pattern)) {
    const end = match.index + match[0].length;
    replaced +=
      shadow.typed.slice(copied, shadow.starts?.[match.index] ?? match.index) + replace(match);
    copied = shadow.ends?.[end - 1] ?? end;
  }
  return shadowOf(replaced + shadow.typed.slice(copied));
}

/**
 * Cuts a text into pieces to fold: a run of plain ASCII, an escaped space, plus or at sign, or one
 * character.
 */
const PIECE = /[\0-$&-\x7f]+|%(?:20|2[Bb]|40)|./gsu;

function shadowOf(typed: string): Shadow {
  if (isItsOwnShadow(typed)) return { typed, text: typed };
  const starts: number[] = [];
  const ends: number[] = [];
  let text = '';
  for (const { 0: piece, index } of typed.matchAll(PIECE)) {
    const plain = piece.charCodeAt(0) <= 0x7f && !piece.startsWith('%');
    const folded = plain ? piece : foldCharacter(piece);
    text += folded;
    for (let unit = 0; unit < folded.length; unit++) {
      starts.push(plain ? index + unit : index);
      ends.push(plain ? index + unit + 1 : index + piece.length);
    }
  }
  return { typed, text, starts, ends };
}

const MAY_DIFFER = /[^\0-\x7f]|%/;
/** Some invisible characters count as letters, such as the Hangul fillers. */
const DIFFERS = /[^\0-\x7f\p{L}•]|\p{DI}|%/u;

/** Whether folding changes nothing. This check is far cheaper than making a shadow. */
const isItsOwnShadow = (text: string) =>
  !MAY_DIFFER.test(text) || (!DIFFERS.test(text) && text.normalize('NFKC') === text);

/** Folding a character is slow, and texts use few different characters. */
const foldCharacter = remember(4_096, (character) =>
  character.startsWith('%')
    ? decodeEscape(character)
    : character.normalize('NFKC').replace(/[^\0-\x7f\p{L}•]|\p{DI}/gu, foldSign),
);

/** Decodes `%20`, `%2b` or `%40`. A single percent sign stays. */
const decodeEscape = (escape: string) => (escape === '%' ? escape : decodeURIComponent(escape));

function foldSign(sign: string): string {
  if (/[\p{Cf}\p{M}\p{DI}]/u.test(sign)) return '';
  return /\p{Nd}/u.test(sign) ? String(digitValue(sign)) : ' ';
}

/** The value of a decimal digit. In Unicode, the digits of a script follow each other from zero. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0)!;
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return (code - zero) % 10;
}
