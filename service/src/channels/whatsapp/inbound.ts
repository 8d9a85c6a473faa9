import type { InboundItem, InboundReceipt, InboundSender } from '../inbound.ts';
import { errorInWords } from './errorWords.ts';
import { type Fields, fieldsOf, listOf, shortened, textOf } from './fields.ts';
import { messageInWords } from './inWords.ts';

/**
 * Reads every message and status in the body of a webhook, in order. Only items that cannot be read
 * are left out.
 * @see developers.facebook.com, Cloud API, "Webhooks", field `messages`
 */
export const parseBody = (body: unknown): readonly InboundItem[] =>
  listOf(fieldsOf(body).entry)
    .flatMap((entry) => listOf(fieldsOf(entry).changes))
    .map(fieldsOf)
    .filter(({ field }) => field === 'messages')
    .flatMap(({ value }) => itemsOf(fieldsOf(value)));

function itemsOf(value: Fields): InboundItem[] {
  const account = textOf(fieldsOf(value.metadata).phone_number_id);
  if (account === null) return [];
  const senderOf = readSenders(value);
  const messages = listOf(value.messages).map((message) =>
    readMessage(account, fieldsOf(message), senderOf),
  );
  const receipts = listOf(value.statuses).map((status) => readStatus(account, fieldsOf(status)));
  return [...messages, ...receipts].filter((item) => item !== null);
}

const MAX_ID_CHARACTERS = 512;

const idOf = (value: unknown): string | null =>
  typeof value === 'string' && value.length <= MAX_ID_CHARACTERS ? textOf(value) : null;

function readMessage(
  account: string,
  message: Fields,
  senderOf: (message: Fields) => InboundSender | null,
): InboundItem | null {
  const id = idOf(message.id);
  if (id === null) return null;
  const sentAt = timeOf(message.timestamp);
  if (message.type === 'system') return readSystem(account, id, message, sentAt);
  const from = senderOf(message);
  if (from === null) return null;
  const note = noteInWords(message);
  if (note !== null)
    return { type: 'note', account, from, id, text: note, sentAt, changedTo: null };
  return { type: 'message', account, from, id, text: messageInWords(message), sentAt };
}

const MAX_EMOJI_CHARACTERS = 20;

/** Null for a message of the customer. */
function noteInWords({ type, reaction }: Fields): string | null {
  if (type === 'revoke') return 'deleted a message on their phone. It stays here';
  if (type !== 'reaction') return null;
  const emoji = textOf(fieldsOf(reaction).emoji);
  return emoji === null
    ? 'removed a reaction'
    : `reacted with ${shortened(emoji, MAX_EMOJI_CHARACTERS)}`;
}

/**
 * A message from WhatsApp itself: the customer has a new number or user id. Its text is not read
 * because it contains the customer's name, which may be anything.
 */
function readSystem(
  account: string,
  id: string,
  message: Fields,
  sentAt: Date | null,
): InboundItem | null {
  const system = fieldsOf(message.system);
  const before = identifiers(message.from, message.from_user_id ?? system.previous_user_id);
  const changedTo = identifiers(system.wa_id ?? system.new_wa_id, system.user_id);
  // A new user id leaves the number as it is, so the number tells who the customer was.
  const phone = before.phone ?? (system.type === 'user_changed_user_id' ? changedTo.phone : null);
  if (phone === null && before.userId === null) return null;
  const text =
    changedTo.phone !== null && changedTo.phone !== phone
      ? 'has changed their phone number'
      : 'has a new identity on WhatsApp';
  return {
    type: 'note',
    account,
    from: { ...before, phone, name: null },
    id,
    text,
    sentAt,
    changedTo,
  };
}

const STATES: Readonly<Record<string, InboundReceipt['state']>> = {
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  played: 'read',
  failed: 'failed',
};

function readStatus(account: string, status: Fields): InboundReceipt | null {
  const channelMessageId = idOf(status.id);
  const name = textOf(status.status) ?? '';
  if (channelMessageId === null || !Object.hasOwn(STATES, name)) return null;
  const outboundMessageId =
    /^out_[0-9A-Z]{26}$/.exec(textOf(status.biz_opaque_callback_data) ?? '')?.[0] ?? null;
  const state = STATES[name]!;
  return {
    type: 'receipt',
    account,
    channelMessageId,
    outboundMessageId,
    state,
    error: state === 'failed' ? whyFailed(status) : null,
  };
}

function whyFailed({ errors }: Fields): string {
  const [error = {}] = listOf(errors).map(fieldsOf);
  return errorInWords({
    code: typeof error.code === 'number' ? error.code : null,
    title: textOf(error.title),
    message: textOf(error.message),
    details: textOf(fieldsOf(error.error_data).details),
  });
}

/** The beginning of the year 2100. */
const LATEST_SECONDS = 4_102_444_800;

/** Unix seconds, as text. */
function timeOf(value: unknown): Date | null {
  const text = textOf(value) ?? '';
  const seconds = /^\d{1,12}$/.test(text) ? Number(text) : 0;
  return seconds > 0 && seconds < LATEST_SECONDS ? new Date(seconds * 1000) : null;
}

const MAX_NAME_CHARACTERS = 200;

/**
 * Finds the sender of each message in a `value`, from the message and from `value.contacts`. A
 * customer with a username may have a business-scoped user id and no phone number. Null when neither
 * is given.
 * @see developers.facebook.com, "Business-scoped user IDs": `from_user_id` of a message, `user_id`
 * of a contact
 */
function readSenders(value: Fields): (message: Fields) => InboundSender | null {
  const contacts = listOf(value.contacts).map((contact) => readContact(fieldsOf(contact)));
  const known = new Map<string, InboundSender>(
    contacts.flatMap((contact) => keysOf(contact).map((key) => [key, contact] as const)),
  );
  // A phone number and its WhatsApp id can differ; a single contact is still the single sender.
  const only = contacts.length === 1 && isOneSender(value) ? contacts[0] : undefined;
  return (message) => {
    const from = identifiers(message.from, message.from_user_id);
    const contact =
      keysOf(from)
        .map((key) => known.get(key))
        .find((each) => each !== undefined) ?? only;
    const phone = from.phone ?? contact?.phone ?? null;
    const userId = from.userId ?? contact?.userId ?? null;
    return phone === null && userId === null
      ? null
      : { phone, userId, name: contact?.name ?? null };
  };
}

type Identifiers = Pick<InboundSender, 'phone' | 'userId'>;

/** Without a phone number, its field may hold the user id. */
const identifiers = (number: unknown, id: unknown): Identifiers => ({
  phone: phoneOf(number),
  userId: userIdOf(id) ?? userIdOf(number),
});

const phoneOf = (value: unknown): string | null =>
  /^\+?(\d{6,15})$/.exec(textOf(value) ?? '')?.[1] ?? null;

/** `US.13491208655302741918`, `US.ENT.11815799212886844830`. */
const userIdOf = (value: unknown): string | null =>
  /^[A-Za-z]{2}\.[\w.-]{1,190}$/.exec(textOf(value) ?? '')?.[0] ?? null;

function readContact({ wa_id, user_id, profile }: Fields): InboundSender {
  const { name, username } = fieldsOf(profile);
  const shownName = textOf(name) ?? textOf(username);
  return {
    ...identifiers(wa_id, user_id),
    name: shownName === null ? null : shortened(shownName.trim(), MAX_NAME_CHARACTERS),
  };
}

const keysOf = ({ phone, userId }: Identifiers): string[] =>
  [userId, phone].filter((key) => key !== null);

const isOneSender = ({ messages }: Fields): boolean =>
  new Set(
    listOf(messages).map((message) =>
      JSON.stringify([fieldsOf(message).from, fieldsOf(message).from_user_id]),
    ),
  ).size === 1;
