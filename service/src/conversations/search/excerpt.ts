import { findMarks, type WordQuery } from './wordQuery.ts';

/** A part of an excerpt. `isMatch`: it is a word that was searched for. */
interface ExcerptPart {
  readonly text: string;
  readonly isMatch: boolean;
}

export type Excerpt = readonly ExcerptPart[];

/** An excerpt ends at the first word that begins after this many characters. */
const EXCERPT_CHARACTERS = 160;
/** How much of a long sentence stays before its first match. */
const CHARACTERS_BEFORE = 40;
const sentences = new Intl.Segmenter('und', { granularity: 'sentence' });

/** The sentence with the most matches, the first of several, cut to length and in one line. */
export function excerptOf(query: WordQuery, text: string): Excerpt {
  const marks = findMarks(query, text);
  let best = { from: 0, text, found: -1 };
  for (const { segment, index } of sentences.segment(text)) {
    const found = marks.filter(
      ([start]) => start >= index && start < index + segment.length,
    ).length;
    if (found > best.found) best = { from: index, text: segment, found };
  }
  const end = best.from + best.text.length;
  const first = marks.find(([start]) => start >= best.from)?.[0] ?? best.from;
  const from =
    first - best.from > CHARACTERS_BEFORE ? wordStart(text, first - CHARACTERS_BEFORE) : best.from;
  const to = Math.min(end, wordStart(text, from + EXCERPT_CHARACTERS));
  return [
    ...(from > best.from ? [{ text: '…', isMatch: false }] : []),
    ...partsBetween(text, marks, from, to),
    ...(to < end && text.slice(to, end).trim() !== '' ? [{ text: '…', isMatch: false }] : []),
  ];
}

/** Where the next word begins; `from` itself when none begins nearby. */
function wordStart(text: string, from: number): number {
  const space = text.slice(from, from + CHARACTERS_BEFORE).search(/\s/);
  const at = space === -1 ? from : from + space + 1;
  const splitsPair = /[\uDC00-\uDFFF]/.test(text.charAt(at));
  return splitsPair ? at + 1 : at;
}

function partsBetween(
  text: string,
  marks: readonly (readonly [number, number])[],
  from: number,
  to: number,
): ExcerptPart[] {
  const parts: ExcerptPart[] = [];
  const add = (start: number, end: number, isMatch: boolean) => {
    const line = text.slice(start, end).replace(/\s+/g, ' ');
    if (line !== '') parts.push({ text: line, isMatch });
  };
  let at = from;
  for (const [start, end] of marks) {
    if (end <= from || start >= to) continue;
    add(at, Math.max(from, start), false);
    add(Math.max(from, start), Math.min(end, to), true);
    at = Math.min(end, to);
  }
  add(at, to, false);
  return parts;
}
