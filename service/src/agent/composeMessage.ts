import { MAX_MESSAGE_CHARACTERS } from '../domain/message.ts';
import { cutText } from './cutText.ts';

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
