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

/**
 * Masks this contact's own phone and e-mail in free text, in their usual spellings.
 * Other numbers (an order, a price) stay readable.
 */
export function maskText(text: string, contact: Pick<Contact, 'phone' | 'email'>): string {
  let masked = text;
  if (contact.email) masked = masked.replace(new RegExp(escapeRegExp(contact.email), 'giu'), maskEmail(contact.email));
  if (contact.phone) masked = masked.replace(new RegExp(phonePattern(contact.phone), 'gu'), maskPhone(contact.phone));
  return masked;
}

/** What the contact is called without saying who it is: a masked number, else a masked address, else "Visitor". */
export function contactDisplay(contact: Pick<Contact, 'id' | 'phone' | 'email'>): string {
  if (contact.phone) return maskPhone(contact.phone);
  if (contact.email) return maskEmail(contact.email);
  return `Visitor ${contact.id.slice(-4)}`;
}
