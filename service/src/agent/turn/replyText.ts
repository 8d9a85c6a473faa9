import { MAX_MESSAGE_CHARACTERS } from '../../conversations/index.ts';
import { languageOf, type Spoken } from './decideTurn.ts';
import { pastCall } from './history.ts';
import type { LoadedTurn } from './loadTurn.ts';
import { cutText } from '../cutText.ts';
import { madeLink } from '../keyword/resultWording.ts';

/** What the text of a reply depends on. */
type Replying = Pick<LoadedTurn, 'settings' | 'messages' | 'untold' | 'contact'>;

/**
 * The text of the agent's reply. The first one in a conversation begins with the greeting. An offer to
 * hand over to a person comes last, so that a "yes" answers it.
 */
export function replyText(turn: Replying, outcome: Spoken): string {
  const message = composed(turn, outcome);
  const leftOut = linksLeftOut(turn, message).filter((words) => !outcome.notices.includes(words));
  if (leftOut.length === 0) return message;
  // For what is added, more of the text is cut, which may hold another link.
  return replyText(turn, { ...outcome, notices: [...leftOut, ...outcome.notices] });
}

function composed(turn: Replying, { type, text, notices }: Spoken): string {
  const greeting = greetingOf(turn);
  const first = greeting === null ? [] : [greeting];
  return type === 'hand_over'
    ? composeMessage([...first, ...notices], text, [])
    : composeMessage(first, text, notices);
}

/** What the agent's message has to begin with: the greeting, if it is the first; else null. */
export function greetingOf({
  settings,
  messages,
}: Pick<LoadedTurn, 'settings' | 'messages'>): string | null {
  const isFirst =
    messages[0]?.number === 1 && !messages.some(({ sender }) => sender.type === 'agent');
  return isFirst && settings.greeting !== '' ? settings.greeting : null;
}

const GAP = '\n\n';

/**
 * Joins the parts of a message to at most `MAX_MESSAGE_CHARACTERS`. If they are too long together, only
 * `words` is cut, or left out. The parts before and after it are the service's own sentences and
 * stay whole, also when they are too long themselves.
 */
function composeMessage(
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
 * The service's own sentences with the new payment links that a message lacks. A model may leave a
 * link out or misspell it, or the link may be cut off.
 * @param message the whole message to send
 */
function linksLeftOut(turn: Replying, message: string): readonly string[] {
  const made = turn.untold.map((call) =>
    madeLink(pastCall(call, turn.contact, false), languageOf(turn)),
  );
  return made
    .filter((link) => link !== null)
    .filter(({ url }) => !holdsAddress(message, url))
    .map(({ words }) => words);
}

/** Whether a message holds the whole link. Punctuation may follow it, but nothing that changes it. */
function holdsAddress(message: string, url: string): boolean {
  for (let at = message.indexOf(url); at !== -1; at = message.indexOf(url, at + 1)) {
    if (/^[.,;:!?)\]}>"'*]*(?:\s|$|\()/.test(message.slice(at + url.length, at + url.length + 8)))
      return true;
  }
  return false;
}
