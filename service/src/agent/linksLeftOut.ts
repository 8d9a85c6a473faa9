import { languageOf } from './decideTurn.ts';
import { pastCall } from './history.ts';
import { madeLink } from './resultWording.ts';
import type { LoadedTurn } from './loadTurn.ts';

/**
 * The new payment links that a message does not hold unchanged, in the service's own sentences. A model
 * may leave a link out or misspell it, or the link may be cut off.
 * @param message the whole message to send
 */
export function linksLeftOut(turn: LoadedTurn, message: string): readonly string[] {
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
