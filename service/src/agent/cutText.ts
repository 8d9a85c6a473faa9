/**
 * Cuts a text to at most `max` characters (code points), with `endAtBoundary`. Nothing is left of it
 * when `max` is 0 or less.
 */
export function cutText(text: string, max: number): string {
  const characters = [...text];
  if (characters.length <= max) return text;
  return max > 0 ? endAtBoundary(characters.slice(0, max).join('')) : '';
}

/**
 * Shortens a text that breaks off, so that it ends with its last whole sentence, or else with its
 * last whole word and an ellipsis. At least half of the text stays, and it never gets longer.
 */
export function endAtBoundary(text: string): string {
  const half = text.length / 2;
  const sentence = lastMatchEnd(text, SENTENCE_END);
  if (sentence > half) return text.slice(0, sentence).trimEnd();
  const word = lastMatchEnd(text, /\S(?=\s)/g);
  if (word > half) return `${text.slice(0, word)}…`;
  return `${[...text].slice(0, -1).join('')}…`;
}

/** The end of a sentence or of a line; not the dot of an item's number, as in `2. Blue shoes`. */
const SENTENCE_END = /(?<!^ *\d{1,3})[.!?…](?=["')\]»”]*\s)["')\]»”]*|[。！？]|(?=\n)/gm;

function lastMatchEnd(text: string, pattern: RegExp): number {
  let end = 0;
  for (const match of text.matchAll(pattern)) end = match.index + match[0].length;
  return end;
}
