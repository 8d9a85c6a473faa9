import type { InboundSender } from '../../domain/inbound.ts';
import { fieldsOf, listOf, shortened, textOf, type Fields } from './fields.ts';

const MAX_NAME_CHARACTERS = 200;

/**
 * Finds the sender of each message in a `value`, from the message and from `value.contacts`. A
 * customer with a username may have a business-scoped user id and no phone number. Null when neither
 * is given.
 * @see developers.facebook.com, "Business-scoped user IDs": `from_user_id` of a message, `user_id`
 * of a contact
 */
export function readSenders(value: Fields): (message: Fields) => InboundSender | null {
  const contacts = listOf(value.contacts).map((contact) => readContact(fieldsOf(contact)));
  const known = new Map<string, InboundSender>(
    contacts.flatMap((contact) => keysOf(contact).map((key) => [key, contact] as const)),
  );
  // A phone number and its WhatsApp id can differ, but a single contact is the single sender.
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
export const identifiers = (number: unknown, id: unknown): Identifiers => ({
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
  const called = textOf(name) ?? textOf(username);
  return {
    ...identifiers(wa_id, user_id),
    name: called === null ? null : shortened(called.trim(), MAX_NAME_CHARACTERS),
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
