import { jsonIn } from '../../platform/json.ts';
import { MAX_MESSAGE_CHARACTERS } from '../../conversations/index.ts';
import { fieldsOf, listOf, shortened, textOf, type Fields } from './fields.ts';

/**
 * The text of a customer's message. Anything but text is described in brackets, followed by what the
 * customer wrote with it: `[Picture] Do you have this one?`
 * @param message one of `value.messages`
 * @see developers.facebook.com, Cloud API, "Webhooks", "messages"
 */
export function messageInWords(message: Fields): string {
  const type = textOf(message.type) ?? 'unknown';
  const words =
    (Object.hasOwn(WORDS, type) ? WORDS[type]!(fieldsOf(message[type]), message) : null) ??
    unknownInWords(type, message);
  return shortened(
    message.group_id === undefined ? words : `[In a group] ${words}`,
    MAX_MESSAGE_CHARACTERS,
  );
}

/** Returns null when there is nothing to describe. */
type InWords = (content: Fields, message: Fields) => string | null;

const WORDS: Readonly<Record<string, InWords>> = {
  text: ({ body }) => textOf(body),
  button: ({ text, payload }) => textOf(text) ?? textOf(payload),
  interactive: (content) => interactiveInWords(content),
  image: ({ caption }) => media('Picture', caption),
  video: ({ caption }) => media('Video', caption),
  audio: ({ voice, caption }) => media(voice === true ? 'Voice message' : 'Audio', caption),
  voice: ({ caption }) => media('Voice message', caption),
  document: ({ filename, mime_type, caption }) =>
    media(withDetails('Document', [fileInWords(textOf(filename), textOf(mime_type))]), caption),
  sticker: () => media('Sticker', null),
  location: ({ name, address, latitude, longitude }) =>
    media(withDetails('Location', [name, address, latitude, longitude].map(textOf)), null),
  contacts: (_, { contacts }) =>
    media(withDetails('Contact', listOf(contacts).map(contactInWords), '; '), null),
  order: ({ product_items, text }) =>
    media(withDetails('Order', listOf(product_items).map(itemInWords)), text),
  request_welcome: () => media('Opened the chat for the first time', null),
  edit: (content) => editInWords(content),
};

/** Null when none of the parts is there. */
const joined = (parts: readonly (string | null)[], between: string): string | null =>
  parts.filter((part) => part !== null).join(between) || null;

const media = (what: string, caption: unknown): string =>
  joined([`[${what}]`, textOf(caption)], ' ')!;

const withDetails = (what: string, details: readonly (string | null)[], between = ', '): string =>
  joined([what, joined(details, between)], ': ')!;

const FILE_TYPES: Readonly<Record<string, string>> = {
  'application/pdf': 'PDF',
  'application/msword': 'Word',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'Word',
  'application/vnd.ms-excel': 'Excel',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'Excel',
  'text/plain': 'text',
};

/** `invoice.pdf`; `invoice (PDF)` or `PDF` where the name does not say what it is. */
function fileInWords(name: string | null, mimeType: string | null): string | null {
  const [pure = ''] = mimeType?.split(';') ?? [];
  const type = Object.hasOwn(FILE_TYPES, pure) ? FILE_TYPES[pure]! : null;
  if (name === null) return type;
  return type === null || /\.\w{1,5}$/.test(name) ? name : `${name} (${type})`;
}

/** The customer's choice from a list, buttons or a form. */
function interactiveInWords({
  type,
  button_reply,
  list_reply,
  nfm_reply,
  call_permission_reply,
}: Fields): string | null {
  if (type === 'button_reply') return textOf(fieldsOf(button_reply).title);
  if (type === 'list_reply') {
    const { title, description } = fieldsOf(list_reply);
    return joined([textOf(title), textOf(description)], ', ');
  }
  if (type === 'nfm_reply') return formInWords(fieldsOf(nfm_reply));
  if (type === 'call_permission_reply')
    return media(
      withDetails('Permission to call', [textOf(fieldsOf(call_permission_reply).response)]),
      null,
    );
  return null;
}

/** The answers of a form (a Flow), which come as JSON text. */
function formInWords({ body, response_json }: Fields): string {
  const given = typeof response_json === 'string' ? jsonIn(response_json) : null;
  const answers = Object.entries(fieldsOf(given)).filter(([name]) => name !== 'flow_token');
  const lines = answers.map(
    ([name, answer]) => `${textOf(name) ?? ''}: ${textOf(answer) ?? JSON.stringify(answer)}`,
  );
  return media(withDetails('Form', lines), lines.length === 0 ? body : null);
}

function contactInWords(contact: unknown): string | null {
  const { name, phones, emails } = fieldsOf(contact);
  const { formatted_name, first_name, last_name } = fieldsOf(name);
  const displayName = textOf(formatted_name) ?? joined([first_name, last_name].map(textOf), ' ');
  const numbers = listOf(phones).map(
    (each) => textOf(fieldsOf(each).phone) ?? textOf(fieldsOf(each).wa_id),
  );
  const addresses = listOf(emails).map((each) => textOf(fieldsOf(each).email));
  return joined([displayName, ...numbers, ...addresses], ', ');
}

/** `2 × SKU-7 at 9.5 EUR` */
function itemInWords(item: unknown): string | null {
  const { product_retailer_id, quantity, item_price, currency } = fieldsOf(item);
  const product = textOf(product_retailer_id);
  if (product === null) return null;
  const price = textOf(item_price);
  return `${textOf(quantity) ?? '1'} × ${product}${price === null ? '' : ` at ${price} ${textOf(currency) ?? ''}`.trimEnd()}`;
}

function editInWords({ message }: Fields): string | null {
  const changed = fieldsOf(message);
  return textOf(changed.type) === null || changed.type === 'edit'
    ? null
    : `[Changed an earlier message] ${messageInWords(changed)}`;
}

/** A type that WhatsApp does not pass on, or that is newer than this code, with any text in it. */
function unknownInWords(type: string, { unsupported, errors, [type]: content }: Fields): string {
  const [error] = listOf(errors).map(fieldsOf);
  const why =
    error &&
    (textOf(fieldsOf(error.error_data).details) ?? textOf(error.message) ?? textOf(error.title));
  const kind =
    textOf(fieldsOf(unsupported).type) ??
    (type === 'unknown' || type === 'unsupported' ? null : type);
  const { body, text, caption } = fieldsOf(content);
  return media(
    withDetails(
      `Message that cannot be shown here${kind === null ? '' : ` (${shortened(kind, 60)})`}`,
      [why ?? null],
    ),
    textOf(body) ?? textOf(text) ?? caption,
  );
}
