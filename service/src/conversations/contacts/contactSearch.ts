import { normalizeEmail } from '../../platform/contactDetails.ts';
import { normalizePhone } from '../../platform/phoneNumber.ts';
import { contactDisplay, maskedDetails, maskEmail } from '../../platform/masking.ts';
import type { Tx } from '../../store/collections.ts';
import type { Contact } from '../contact.ts';
import type { Conversation } from '../conversation.ts';
import { contactName } from '../payload.ts';
import { foldForSearch } from '../search/folding.ts';

/**
 * What a caller of the API searches for: a whole phone number, a whole e-mail, or a part of what the
 * API shows. A part of a hidden number finds nothing, or searches could reveal it digit by digit.
 */
export type ContactSearch =
  | { readonly phone: string }
  | { readonly email: string }
  | { readonly text: string };

export function readContactSearch(q: string): ContactSearch {
  const phone = normalizePhone(q);
  if (phone !== null) return { phone };
  return /^[^\s@•]+@[^\s@•]+$/.test(q.trim()) ? { email: normalizeEmail(q) } : { text: q };
}

/**
 * Whether a contact's name or masked details, as the API shows them, hold a text. Masking a number
 * takes a tenth of a millisecond, and a search looks at thousands: what cannot match is not masked.
 */
export function shownMatcher(text: string): (contact: Contact) => boolean {
  const wanted = foldForSearch(text.trim());
  const hidden = wanted.includes('•') ? hiddenPattern(wanted) : null;
  const holds = (shown: string | null) => shown !== null && foldForSearch(shown).includes(wanted);
  return (contact) => {
    const { name, phone, email } = contact;
    if (name !== null && holds(name) && holds(contactName(contact))) return true;
    if (phone === null && email === null) return holds(contactDisplay(contact));
    if (hidden === null) return false;
    return (
      (phone !== null && hidden.test(`+${phone}`) && holds(maskedDetails(contact).phone)) ||
      (email !== null && holds(maskEmail(email)))
    );
  };
}

/** Matches every number whose masked form may hold this. */
const hiddenPattern = (wanted: string): RegExp =>
  /^[+\d•]+$/.test(wanted)
    ? new RegExp(wanted.replaceAll('+', '\\+').replaceAll('•', '\\d'))
    : /[]/;

/** Picks the conversations of the contacts that match. */
export const ofContacts =
  (tx: Tx, matches: (contact: Contact) => boolean) =>
  async (conversations: readonly Conversation[]): Promise<readonly Conversation[]> => {
    const contacts = await Promise.all(
      conversations.map(({ contactId }) => tx.contacts.peek(contactId)),
    );
    return conversations.filter((_, at) => contacts[at] && matches(contacts[at]));
  };
