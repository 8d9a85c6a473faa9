import { languageOf } from './decideTurn.ts';
import { pastCall } from './history.ts';
import { madeLink } from './resultWording.ts';
import type { LoadedTurn } from './loadTurn.ts';

/**
 * The payment links that the customer has not heard of and that a message does not have as they
 * are, in the service's own sentences: a model may leave an address out, misspell it, or have it
 * cut off.
 * @param message the whole message, as it would be sent
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

/** With nothing behind it that would lead elsewhere; a full stop or a bracket may follow. */
function holdsAddress(message: string, url: string): boolean {
  for (let at = message.indexOf(url); at !== -1; at = message.indexOf(url, at + 1)) {
    if (/^[.,;:!?)\]}>"'*]*(?:\s|$|\()/.test(message.slice(at + url.length, at + url.length + 8)))
      return true;
  }
  return false;
}
