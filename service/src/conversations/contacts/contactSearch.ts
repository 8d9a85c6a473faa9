import { normalizeEmail } from '../../platform/contactDetails.ts';
import { normalizePhone } from '../../platform/phoneNumber.ts';
import { contactDisplay, maskedDetails, maskEmail } from '../../platform/masking.ts';
import type { Tx } from '../../store/collections.ts';
import type { Contact } from '../contact.ts';
import type { Conversation } from '../conversation.ts';
import type { ContactDetail } from './findByDetail.ts';
import { contactName } from '../payload.ts';
import { foldForSearch } from '../search/folding.ts';

/**
 * What a caller of the API searches for: a whole phone number, a whole e-mail, or a text. A text is
 * a part of the name or, if it has a `•`, of a masked detail. A part of a hidden number finds
 * nothing: otherwise searches could reveal the number digit by digit.
 */
export type ContactSearch = ContactDetail | { readonly text: string };

export function readContactSearch(q: string): ContactSearch {
  const phone = normalizePhone(q);
  if (phone !== null) return { phone };
  return /^[^\s@•]+@[^\s@•]+$/.test(q.trim()) ? { email: normalizeEmail(q) } : { text: q };
}

/**
 * Makes a test for contacts: is the text in the name or, if it has a `•`, in a masked detail, as
 * the API shows them? Masking a number takes a tenth of a millisecond, and a search looks at
 * thousands of contacts, so a number that cannot match is not masked.
 */
export function shownMatcher(text: string): (contact: Contact) => boolean {
  const wanted = foldForSearch(text.trim());
  const hidden = wanted.includes('•') ? hiddenPattern(wanted) : null;
  const matches = (shown: string | null) => shown !== null && foldForSearch(shown).includes(wanted);
  // A number in the name is masked, so only the shown name can match a masked text.
  const nameMatches = (contact: Contact) =>
    contact.name !== null &&
    (hidden !== null || matches(contact.name)) &&
    matches(contactName(contact));
  return (contact) => {
    const { phone, email } = contact;
    if (nameMatches(contact)) return true;
    if (phone === null && email === null) return matches(contactDisplay(contact));
    if (hidden === null) return false;
    return (
      (phone !== null && hidden.test(`+${phone}`) && matches(maskedDetails(contact).phone)) ||
      (email !== null && matches(maskEmail(email)))
    );
  };
}

/** Matches every number whose masked form contains the text, and maybe some others. */
const hiddenPattern = (wanted: string): RegExp =>
  /^[+\d•]+$/.test(wanted)
    ? new RegExp(wanted.replaceAll('+', '\\+').replaceAll('•', '\\d'))
    : /[]/; // matches nothing

/** Makes a filter of conversations, which keeps those whose contact matches. */
export const ofContacts =
  (tx: Tx, matches: (contact: Contact) => boolean) =>
  async (conversations: readonly Conversation[]): Promise<readonly Conversation[]> => {
    const contacts = await Promise.all(
      conversations.map(({ contactId }) => tx.contacts.peek(contactId)),
    );
    return conversations.filter((_, i) => contacts[i] && matches(contacts[i]));
  };
