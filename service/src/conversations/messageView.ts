import type { Contact } from './contact.ts';
import type { Message } from './message.ts';
import { messagePayload } from './payload.ts';

/** A message in the API's answers: the fields of an event, and its delivery state. */
export const trackedMessageJson = (message: Message, contact: Contact) => ({
  ...messagePayload(message, contact),
  delivery: message.delivery ?? null,
});
