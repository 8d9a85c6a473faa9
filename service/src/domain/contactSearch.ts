import type { Contact } from './contact.ts';
import { contactDisplay } from './masking.ts';

/** Without case and accents: "Müller" is found by "muller". */
const fold = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();

/** Fewer digits are in too many numbers to say anything. */
const MIN_DIGITS = 3;

/**
 * Finds contacts by a part of their name, e-mail, phone number (in any spelling, with or without
 * the country code's `+` or `00`) or of the masked label that n8n and the API show.
 */
export function contactMatcher(search: string): (contact: Contact) => boolean {
  const wanted = fold(search.trim());
  const digits = /^[+\d\s().\-/]+$/.test(wanted)
    ? wanted.replace(/\D/g, '').replace(/^0+/, '')
    : '';
  return (contact) =>
    (contact.name !== null && fold(contact.name).includes(wanted)) ||
    (contact.email !== null && contact.email.includes(wanted)) ||
    (digits.length >= MIN_DIGITS && contact.phone !== null && contact.phone.includes(digits)) ||
    fold(contactDisplay(contact)).includes(wanted);
}
