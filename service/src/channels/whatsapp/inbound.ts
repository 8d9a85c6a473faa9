import type { InboundItem, InboundReceipt, InboundSender } from '../../domain/inbound.ts';
import { errorInWords } from './errorWords.ts';
import { fieldsOf, listOf, shortened, textOf, type Fields } from './fields.ts';
import { messageInWords } from './inWords.ts';
import { identifiers, readSenders } from './whoWrote.ts';

/**
 * Every message and status of a body of Meta's webhook, over all entries and changes, in order.
 * What cannot be read is left out; what stands beside it is not.
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
  const whoWrote = readSenders(value);
  const messages = listOf(value.messages).map((message) =>
    readMessage(account, fieldsOf(message), whoWrote),
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
  whoWrote: (message: Fields) => InboundSender | null,
): InboundItem | null {
  const id = idOf(message.id);
  if (id === null) return null;
  const sentAt = timeOf(message.timestamp);
  if (message.type === 'system') return readSystem(account, id, message, sentAt);
  const from = whoWrote(message);
  if (from === null) return null;
  const note = noteInWords(message);
  if (note !== null)
    return { type: 'note', account, from, id, text: note, sentAt, changedTo: null };
  return { type: 'message', account, from, id, text: messageInWords(message), sentAt };
}

const MAX_EMOJI_CHARACTERS = 20;

/** Null: it is a message. */
function noteInWords({ type, reaction }: Fields): string | null {
  if (type === 'revoke') return 'deleted a message on their phone; it stays here';
  if (type !== 'reaction') return null;
  const emoji = textOf(fieldsOf(reaction).emoji);
  return emoji === null
    ? 'took a reaction back'
    : `reacted with ${shortened(emoji, MAX_EMOJI_CHARACTERS)}`;
}

/**
 * WhatsApp itself speaks: the customer has a new number, or a new user id. What its words say is
 * not read: the customer's own name stands in them, and may hold anything.
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
  // A user id that changes leaves the number as it is, and the number then tells who it was.
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

/** 2100. */
const LATEST_SECONDS = 4_102_444_800;

/** Unix seconds, as text. */
function timeOf(value: unknown): Date | null {
  const text = textOf(value) ?? '';
  const seconds = /^\d{1,12}$/.test(text) ? Number(text) : 0;
  return seconds > 0 && seconds < LATEST_SECONDS ? new Date(seconds * 1000) : null;
}
