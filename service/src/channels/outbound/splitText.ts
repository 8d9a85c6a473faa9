/**
 * Cuts a text into pieces that a channel accepts, where a reader would pause: at the end of a
 * paragraph, else of a sentence, else of a line, else of a word, else between two characters. A
 * character that fits into a piece, such as a joined emoji or a letter with accents, is never cut.
 * Only the white space at the cuts is dropped. A text that fits stays as it is.
 * @param max the most characters (code points) of a piece, at least 1
 * @returns the pieces in order. None is blank, except that a blank text gives one blank piece.
 */
export function splitText(text: string, max: number): readonly string[] {
  if (text.length <= max || [...text].length <= max) return [text];
  const characters = charactersOf(text, max);
  const pieces: string[] = [];
  for (let start = 0; start < characters.length; ) {
    const end = endOfPiece(characters, start, max);
    const piece = textOf(characters.slice(start, end));
    if (piece.trim() !== '') pieces.push(piece);
    start = end === characters.length ? end : skipSpace(characters, end);
  }
  return pieces.length > 0 ? pieces : [textOf(characters.slice(0, 1))];
}

/** What a reader sees as one character. */
interface Character {
  readonly text: string;
  /** Code points. */
  readonly size: number;
  readonly isSpace: boolean;
}

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** The characters of a text. One that is longer than a piece is split into code points. */
function charactersOf(text: string, max: number): readonly Character[] {
  const characters: Character[] = [];
  for (const { segment } of segmenter.segment(text)) {
    const points = [...segment];
    for (const each of points.length > max ? points : [segment]) {
      characters.push({
        text: each,
        size: each === segment ? points.length : 1,
        isSpace: each.trim() === '',
      });
    }
  }
  return characters;
}

const textOf = (characters: readonly Character[]): string =>
  characters.map(({ text }) => text).join('');

function skipSpace(characters: readonly Character[], from: number): number {
  let at = from;
  while (characters[at]?.isSpace) at++;
  return at;
}

/** The kinds of places for a cut. The higher the number, the better the place. */
const PAUSES = { character: 0, word: 1, line: 2, sentence: 3, paragraph: 4 } as const;

/**
 * Where the piece that starts at `start` ends: the best place in its second half, so that pieces are
 * not tiny, else the best in its first half. Of equally good places, the last one.
 */
function endOfPiece(characters: readonly Character[], start: number, max: number): number {
  let [limit, size] = [start, 0];
  for (; limit < characters.length && size + characters[limit]!.size <= max; limit++)
    size += characters[limit]!.size;
  if (limit === characters.length) return limit;
  const half = start + Math.ceil((limit - start) / 2);
  return bestEnd(characters, half, limit) ?? bestEnd(characters, start + 1, limit) ?? limit;
}

/** @returns null when there is no pause from `from` to `limit` */
function bestEnd(characters: readonly Character[], from: number, limit: number): number | null {
  let best: { at: number; pause: number } | null = null;
  for (let at = limit; at >= from; at--) {
    const pause = pauseAt(characters, at);
    if (pause > (best?.pause ?? PAUSES.character)) best = { at, pause };
    if (pause === PAUSES.paragraph) break;
  }
  return best?.at ?? null;
}

const SENTENCE_END = /^[.!?…。！？]/u;
/** In scripts without spaces, the next sentence follows these directly. */
const FULL_WIDTH_END = /^[。！？]/u;
const CLOSING = /^["'’”»›)\]}」』）]/u;

/**
 * The kind of pause between the character before `at` and the one at it. A pause begins with its
 * white space, so there is none after white space.
 */
function pauseAt(characters: readonly Character[], at: number): number {
  const [before, next] = [characters[at - 1], characters[at]];
  if (!before || !next || before.isSpace) return PAUSES.character;
  const last = beforeClosing(characters, at - 1);
  if (!next.isSpace)
    return FULL_WIDTH_END.test(last) && !SENTENCE_END.test(next.text) && !CLOSING.test(next.text)
      ? PAUSES.sentence
      : PAUSES.character;
  const space = textOf(characters.slice(at, skipSpace(characters, at))).replaceAll('\r\n', '\n');
  if (/\n[^\S\n]*\n/.test(space)) return PAUSES.paragraph;
  if (SENTENCE_END.test(last)) return PAUSES.sentence;
  return space.includes('\n') ? PAUSES.line : PAUSES.word;
}

/** A sentence does not end with more quotes and brackets in a row than this. */
const MAX_CLOSING = 8;

/** The last character up to `at` that is no closing quote or bracket. */
function beforeClosing(characters: readonly Character[], at: number): string {
  let index = at;
  while (index > 0 && at - index < MAX_CLOSING && CLOSING.test(characters[index]!.text)) index--;
  return characters[index]!.text;
}
