import { visitorName } from '../../platform/visitorName.ts';
import type { Contact } from '../contact.ts';
import { wordsOf } from './words.ts';

/** A contact is found by name, e-mail and phone; without the last two, by `Visitor 1A2B` too. */
export function wordsOfContact(contact: Contact): Iterable<string> {
  const { name, email, phone } = contact;
  const shown = email === null && phone === null ? visitorName(contact) : null;
  return wordsOf([name, email, phone, shown].filter((part) => part !== null).join(' | '));
}
