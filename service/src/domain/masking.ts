import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { Contact } from './contact.ts';

/**
 * Contact details never leave the team's own screens in the clear.
 * @see spec section 2 ("Contact details are always masked in every payload"), design section 3
 */

const DOT = '•';

/** `5491155551234` → `+54•••••••••34`; a short one keeps less. */
export function maskPhone(digits: string): string {
  const country = parsePhoneNumberFromString(`+${digits}`)?.countryCallingCode ?? '';
  const tail = digits.length >= 8 ? digits.slice(-2) : '';
  return `+${country}${DOT.repeat(digits.length - country.length - tail.length)}${tail}`;
}

/** `maria@example.com` → `m••••@e••••••.com`. */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@');
  const domain = email.slice(at + 1);
  const dot = domain.lastIndexOf('.');
  const hide = (word: string) => word.slice(0, 1) + DOT.repeat(Math.max(1, Math.min(word.length - 1, 8)));
  return dot < 1 ? `${hide(email.slice(0, at))}@${hide(domain)}` : `${hide(email.slice(0, at))}@${hide(domain.slice(0, dot))}${domain.slice(dot)}`;
}

const EMAIL_IN_TEXT = /[^\s@<>"',;:()[\]]+@[^\s@<>"',;:()[\]]+/gu;
const PHONE_IN_TEXT = /\+?\d(?:[\s().\-/]*\d){6,14}/g;

/** A name as typed by the customer: a number or an address in it is masked, whoever's it is. */
export const maskName = (name: string): string =>
  name
    .normalize('NFKC')
    .replace(EMAIL_IN_TEXT, maskEmail)
    .replace(PHONE_IN_TEXT, (number) => maskPhone(number.replace(/\D/g, '')));

const escapeRegExp = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** What people write between the digits of a number. */
const SEPARATORS = '[\\s().\\-/\\u00a0\\u2010-\\u2015]*';

const spaced = (digits: string) => [...digits].join(SEPARATORS);

function phonePattern(digits: string): string {
  const parsed = parsePhoneNumberFromString(`+${digits}`);
  if (!parsed) return `(?<!\\d)(?:\\+|00)?${spaced(digits)}(?!\\d)`;
  const country = `(?:(?:(?:\\+|00)${SEPARATORS})?${spaced(parsed.countryCallingCode)}${SEPARATORS})?`;
  // The national number, with or without a trunk zero; Argentina's and Mexico's mobile mark is often left out.
  const national = parsed.nationalNumber.replace(/^9(?=\d{10}$)/, '');
  const mark = national === parsed.nationalNumber ? '' : `(?:9${SEPARATORS})?`;
  return `(?<!\\d)${country}(?:\\(?0\\)?${SEPARATORS})?${mark}${spaced(national)}(?!\\d)`;
}

/** What is shown of a contact's phone and e-mail, and the patterns that find them in free text. */
interface MaskedDetails {
  readonly phone: string | null;
  readonly email: string | null;
  readonly patterns: readonly (readonly [pattern: RegExp, mask: string])[];
}

/** Documents never change in place: each is parsed once, not for every text. */
const known = new WeakMap<Details, MaskedDetails>();
type Details = Pick<Contact, 'phone' | 'email'>;

export function maskedDetails(contact: Details): MaskedDetails {
  const before = known.get(contact);
  if (before !== undefined) return before;
  const phone = contact.phone === null ? null : maskPhone(contact.phone);
  const email = contact.email === null ? null : maskEmail(contact.email);
  const patterns: [RegExp, string][] = [];
  if (email !== null) patterns.push([new RegExp(escapeRegExp(contact.email!), 'giu'), email]);
  if (phone !== null) patterns.push([new RegExp(phonePattern(contact.phone!), 'gu'), phone]);
  const details = { phone, email, patterns };
  known.set(contact, details);
  return details;
}

/**
 * Masks this contact's own phone and e-mail in free text, in their usual spellings.
 * Other numbers (an order, a price) stay readable.
 */
export const maskText = (text: string, contact: Details): string =>
  maskedDetails(contact).patterns.reduce((masked, [pattern, mask]) => masked.replace(pattern, mask), text);

/** What the contact is called without saying who it is: a masked number, else a masked address, else "Visitor". */
export function contactDisplay(contact: Pick<Contact, 'id' | 'phone' | 'email'>): string {
  const { phone, email } = maskedDetails(contact);
  return phone ?? email ?? `Visitor ${contact.id.slice(-4)}`;
}
