import type { Contact } from '../../domain/contact.ts';
import type { Message } from '../../domain/message.ts';
import { messagePayload } from '../../domain/payload.ts';

/** A message in the API's answers: as an event says it, and how far it has come since. */
export const trackedMessageJson = (message: Message, contact: Contact) => ({
  ...messagePayload(message, contact),
  delivery: message.delivery ?? null,
});
