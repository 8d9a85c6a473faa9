import { MAX_MESSAGE_CHARACTERS } from '../domain/message.ts';

const GAP = '\n\n';

/**
 * One message from its parts, at most MAX_MESSAGE_CHARACTERS characters: when they are too long together,
 * it is the words in the middle that are cut. What stands before and after them is ours, and stays
 * whole.
 */
export function composeMessage(
  before: readonly string[],
  words: string,
  after: readonly string[],
): string {
  const taken = [...before, ...after].reduce((sum, part) => sum + [...part].length + GAP.length, 0);
  return [...before, cutText(words, MAX_MESSAGE_CHARACTERS - taken), ...after]
    .filter((part) => part !== '')
    .join(GAP);
}

/**
 * At most `max` characters (code points): to the end of a sentence if one ends in the second half,
 * else to a word's, with an ellipsis.
 */
export function cutText(text: string, max: number): string {
  const characters = [...text];
  return characters.length <= max ? text : endAtBoundary(characters.slice(0, max).join(''));
}

/**
 * Ends a text that breaks off at the last sentence, else at the last word; no longer than it came.
 */
export function endAtBoundary(text: string): string {
  const half = text.length / 2;
  const sentence = lastMatchEnd(text, /[.!?…](?=["')\]»”]*\s)["')\]»”]*|[。！？]|(?=\n)/g);
  if (sentence > half) return text.slice(0, sentence).trimEnd();
  const word = lastMatchEnd(text, /\S(?=\s)/g);
  if (word > half) return `${text.slice(0, word)}…`;
  return `${[...text].slice(0, -1).join('')}…`;
}

function lastMatchEnd(text: string, pattern: RegExp): number {
  let end = 0;
  for (const match of text.matchAll(pattern)) end = match.index + match[0].length;
  return end;
}
