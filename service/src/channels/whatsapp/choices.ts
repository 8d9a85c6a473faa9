import type { SetupValues } from '../../platform/accounts/accountSetup.ts';
import type { OutboundText } from '../channelAdapter.ts';

/**
 * Messages with choices: reply buttons, or a list that opens by a button of its own.
 * @see developers.facebook.com, Cloud API, "Interactive reply buttons messages" and "Interactive
 * list messages". The pages disagree on the longest text of a list and on whether its only section
 * needs a title: what is sent satisfies all of them.
 */
const BUTTONS = { type: 'button', most: 3, titleMax: 20, bodyMax: 1024 } as const;
const LIST = { type: 'list', most: 10, titleMax: 24, bodyMax: 1024 } as const;

/** The longest label of the button that opens a list. */
export const MAX_LIST_BUTTON_CHARACTERS = 20;
const LIST_BUTTON = 'Choose';

/** The form that takes these choices; null when none does. */
function formOf(text: string, choices: readonly string[]): 'button' | 'list' | null {
  const areSingleLines = choices.every((title) => title.trim() !== '' && !/\p{Cc}/u.test(title));
  if (choices.length === 0 || !areSingleLines || new Set(choices).size < choices.length)
    return null;
  const takes = ({ most, titleMax, bodyMax }: typeof BUTTONS | typeof LIST) =>
    choices.length <= most &&
    text.length <= bodyMax &&
    choices.every((title) => title.length <= titleMax);
  return [BUTTONS, LIST].find(takes)?.type ?? null;
}

export const takesChoices = (text: string, choices: readonly string[]): boolean =>
  formOf(text, choices) !== null;

/** The part of a message's body that says what it is: a text, or a text with choices. */
export function contentOf(
  { text, choices = [] }: Pick<OutboundText, 'text' | 'choices'>,
  { list_button: listButton = LIST_BUTTON }: SetupValues,
): object {
  const type = formOf(text, choices);
  // A preview would open the link, and some links work once.
  if (type === null) return { type: 'text', text: { preview_url: false, body: text } };
  const titled = choices.map((title, index) => ({ id: String(index + 1), title }));
  const action =
    type === 'button'
      ? { buttons: titled.map((reply) => ({ type: 'reply', reply })) }
      : { button: listButton, sections: [{ title: listButton, rows: titled }] };
  return { type: 'interactive', interactive: { type, body: { text }, action } };
}
