import type { SetupValues } from '../../platform/accounts/accountSetup.ts';
import type { OutboundText } from '../channelAdapter.ts';

/**
 * The limits of messages with choices: reply buttons, or a list that opens from a button.
 * @see developers.facebook.com, Cloud API, "Interactive reply buttons messages" and "Interactive
 * list messages". The pages disagree on the longest text of a list and on whether its only section
 * needs a title; these messages satisfy all of them.
 */
const BUTTONS = { type: 'button', maxChoices: 3, maxTitle: 20, maxBody: 1024 } as const;
const LIST = { type: 'list', maxChoices: 10, maxTitle: 24, maxBody: 1024 } as const;

/** The longest label of the button that opens a list. */
export const MAX_LIST_BUTTON_CHARACTERS = 20;
const DEFAULT_LIST_BUTTON = 'Choose';

/** The type of interactive message that fits the text and its choices; null when none does. */
function interactiveTypeFor(text: string, choices: readonly string[]): 'button' | 'list' | null {
  const areSingleLines = choices.every((title) => title.trim() !== '' && !/\p{Cc}/u.test(title));
  if (choices.length === 0 || !areSingleLines || new Set(choices).size < choices.length)
    return null;
  const fits = ({ maxChoices, maxTitle, maxBody }: typeof BUTTONS | typeof LIST) =>
    choices.length <= maxChoices &&
    text.length <= maxBody &&
    choices.every((title) => title.length <= maxTitle);
  return [BUTTONS, LIST].find(fits)?.type ?? null;
}

export const takesChoices = (text: string, choices: readonly string[]): boolean =>
  interactiveTypeFor(text, choices) !== null;

/** The type and content of a message in the body of its request. */
export function contentOf(
  { text, choices = [] }: Pick<OutboundText, 'text' | 'choices'>,
  { list_button: listButton = DEFAULT_LIST_BUTTON }: SetupValues,
): object {
  const type = interactiveTypeFor(text, choices);
  // A preview would open the link, and some links work once.
  if (type === null) return { type: 'text', text: { preview_url: false, body: text } };
  const titled = choices.map((title, index) => ({ id: String(index + 1), title }));
  const action =
    type === 'button'
      ? { buttons: titled.map((reply) => ({ type: 'reply', reply })) }
      : { button: listButton, sections: [{ title: listButton, rows: titled }] };
  return { type: 'interactive', interactive: { type, body: { text }, action } };
}
