/**
 * Cuts a text into pieces that a channel takes, where a reader would pause: at the end of a
 * paragraph, else of a sentence, else of a line, else of a word; only what has none of these is cut
 * between two characters, and never inside one (a joined emoji, a letter with its accents) that
 * fits into a piece. Nothing is lost but the white space at the cuts. A text that fits stays as it
 * is.
 * @param max characters (code points) of a piece, at least 1
 * @returns pieces that are not blank, in the order of the text; one blank piece for a blank text
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

/** What a reader takes for one character. */
interface Character {
  readonly text: string;
  /** Code points. */
  readonly size: number;
  readonly isSpace: boolean;
}

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** One that is longer than a piece comes as its code points. */
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

/** How good a place for a cut is: the higher, the better. */
const PAUSES = { character: 0, word: 1, line: 2, sentence: 3, paragraph: 4 } as const;

/**
 * The last of the best places at which the piece that starts at `start` can end. One in its second
 * half is preferred: pieces should not be tiny.
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
/** Writing without spaces goes on right after these. */
const FULL_WIDTH_END = /^[。！？]/u;
const CLOSING = /^["'’”»›)\]}」』）]/u;

/**
 * The pause between the character before `at` and the one at it. White space belongs to the pause
 * that it makes.
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

/** More quotes and brackets in a row than this end no sentence. */
const MAX_CLOSING = 8;

/** The character at `at`, or the one before the quotes and brackets that end there. */
function beforeClosing(characters: readonly Character[], at: number): string {
  let index = at;
  while (index > 0 && at - index < MAX_CLOSING && CLOSING.test(characters[index]!.text)) index--;
  return characters[index]!.text;
}
