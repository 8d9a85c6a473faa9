import { parsePhoneNumberFromString, type PhoneNumber } from 'libphonenumber-js/max';
import { replaceFolded, type Replacement } from './foldedText.ts';
import { mapStrings, type Json } from './json.ts';
import { formsOfPhone } from './phoneNumber.ts';
import { visitorName } from './visitorName.ts';

/** Masks contact details. Only the team's own screens show them in the clear. */

const DOT = '•';

/** `5491155551234` → `+54•••••••••34`. A short number keeps only its country code. */
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
  const hide = ([first = '', ...rest]: string) =>
    first + DOT.repeat(Math.max(1, Math.min(rest.length, 8)));
  return dot < 1
    ? `${hide(email.slice(0, at))}@${hide(domain)}`
    : `${hide(email.slice(0, at))}@${hide(domain.slice(0, dot))}${domain.slice(dot)}`;
}

/** What may separate two digits of one number: in a folded text, all but letters and digits. */
const SEPARATORS = '[\\0-/:-@[-`{-\\x7f•]*';

const NUMBER = new RegExp(`\\(?\\+?\\d(?:${SEPARATORS}\\d){6,}`, 'g');

const inBrackets = (words: string) => `[([{]\\s*(?:${words})\\s*[)\\]}]`;

/** An at sign, or the word in brackets for it. */
const AT = `(?:@|${inBrackets('at|arroba')})`;
/** A full stop inside an address, or the word in brackets for it. */
const FULL_STOP = `(?:\\.|\\s*${inBrackets('dot|punto')}\\s*)`;

const BETWEEN_WORDS = '\\s<>"\',;:()[\\]{}';
const WORD = `[^@${BETWEEN_WORDS}]+`;

/**
 * Two words around an at sign, also with spaces or brackets between them. A match starts only where
 * a word starts. Otherwise, a long word would be read again from each of its letters.
 */
const ADDRESS = new RegExp(
  `(?<![^@${BETWEEN_WORDS}])(?<local>${WORD})(?:[${BETWEEN_WORDS}]*${AT}[@${BETWEEN_WORDS}]*(?<domain>${WORD}))+`,
  'gi',
);

/**
 * A text without any of these characters holds no number and no address. This check saves the
 * search for most texts.
 */
const MAY_HOLD_DETAILS = /[\p{N}\p{Ps}@＠﹫%]/u;

const IN_NAMES: readonly Replacement[] = [
  [ADDRESS, ({ groups }) => maskEmail(`${groups!.local}@${groups!.domain}`)],
  [NUMBER, ([number]) => maskPhone(number.replace(/\D/g, ''))],
];

/** Masks every number and address in a name that the customer typed. */
export const maskName = (name: string): string =>
  MAY_HOLD_DETAILS.test(name) ? replaceFolded(name, IN_NAMES) : name;

const escapeRegExp = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function emailPattern(email: string): RegExp {
  const at = email.lastIndexOf('@');
  const word = (text: string) => escapeRegExp(text).replaceAll('\\.', FULL_STOP);
  return new RegExp(`${word(email.slice(0, at))}\\s*${AT}\\s*${word(email.slice(at + 1))}`, 'gi');
}

const optional = (...prefixes: string[]) => `(?:${prefixes.join('|')})?`;

/** Finds the number, with any separators between its digits, but not inside a longer number. */
function phonePattern(digits: string): RegExp {
  const spellings = new Set(formsOfPhone(digits).map(spellingOf));
  const spaced = [...spellings].map((each) => each.replace(/\d(?!$)/g, `$&${SEPARATORS}`));
  return new RegExp(`(?<!\\d)\\(?\\+?\\(?(?:${spaced.join('|')})(?!\\d)`, 'g');
}

/** How a stored number is written: a pattern of digits that ends with a digit. */
function spellingOf(digits: string): string {
  const parsed = parsePhoneNumberFromString(`+${digits}`);
  return parsed
    ? optional(optional('00', '011') + parsed.countryCallingCode) + nationalSpelling(parsed)
    : optional('00') + digits;
}

/** How the number is written inside its country: a pattern of digits that ends with a digit. */
function nationalSpelling(parsed: PhoneNumber): string {
  if (parsed.countryCallingCode === '54') return argentineSpelling(parsed);
  if (parsed.countryCallingCode === '52') return mexicanSpelling(parsed);
  return optional('0', trunkPrefix(parsed)) + parsed.nationalNumber;
}

/** What is dialled first inside the country: 8 in Russia, 06 in Hungary, 0 in most countries. */
function trunkPrefix(parsed: PhoneNumber): string {
  const dialled = parsed.formatNational().replace(/\D/g, '');
  return dialled.endsWith(parsed.nationalNumber)
    ? dialled.slice(0, -parsed.nationalNumber.length)
    : '';
}

/**
 * From abroad, a mobile number is 9, area and subscriber. Inside the country it is area, 15 and
 * subscriber; inside its area, 15 and subscriber. People write all three, whichever one is stored.
 */
function argentineSpelling({ nationalNumber }: PhoneNumber): string {
  const number = nationalNumber.replace(/^9(?=\d{10}$)/, '');
  const mobile = parsePhoneNumberFromString(`+549${number}`)?.formatNational() ?? '';
  const [, area, subscriber] = /^0(\d+) 15-([\d-]+)$/.exec(mobile) ?? [];
  if (area === undefined || subscriber === undefined) return optional('0') + optional('9') + number;
  return `(?:${optional('0')}${optional('9')}${area}${optional('15')}|15)${subscriber.replace(/\D/g, '')}`;
}

/**
 * Until 2019, a mobile number had a 1 after the country code, and 044 or 045 inside the country.
 * People and channels still write it that way.
 */
const mexicanSpelling = ({ nationalNumber }: PhoneNumber) =>
  optional('044', '045', '01', '1') + nationalNumber.replace(/^1(?=\d{10}$)/, '');

/** A person's contact details: digits, and an address in lower case. */
interface Details {
  readonly phone: string | null;
  readonly email: string | null;
}

/** A contact's phone and e-mail, masked, and the patterns that find them in free text. */
interface MaskedDetails {
  readonly phone: string | null;
  readonly email: string | null;
  readonly patterns: readonly Replacement[];
}

/** Documents never change in place, so each contact's patterns are made once. */
const cache = new WeakMap<Details, MaskedDetails>();

export function maskedDetails(contact: Details): MaskedDetails {
  const cached = cache.get(contact);
  if (cached !== undefined) return cached;
  const phone = contact.phone === null ? null : maskPhone(contact.phone);
  const email = contact.email === null ? null : maskEmail(contact.email);
  const patterns: Replacement[] = [];
  if (email !== null) patterns.push([emailPattern(contact.email!), () => email]);
  if (phone !== null) patterns.push([phonePattern(contact.phone!), () => phone]);
  const details = { phone, email, patterns };
  cache.set(contact, details);
  return details;
}

/**
 * Masks this contact's own phone and e-mail in free text, in their usual spellings and with any
 * signs between the digits. Other numbers, such as an order's or a price, and other addresses stay
 * readable.
 */
export const maskText = (text: string, contact: Details): string =>
  MAY_HOLD_DETAILS.test(text) ? replaceFolded(text, maskedDetails(contact).patterns) : text;

/** Like `maskText`, for every text, key and number of a JSON value: a number may be the phone. */
export const maskJson = (value: Json, contact: Details): Json =>
  mapStrings(
    value,
    (text) => maskText(text, contact),
    (number) => {
      const text = String(number);
      const masked = maskText(text, contact);
      return masked === text ? number : masked;
    },
  );

/**
 * Puts this contact's own phone and e-mail back where they are masked. The agent never sees them,
 * but can still pass them to the team's tools.
 */
export function unmaskJson(value: Json, contact: Details): Json {
  const { phone, email } = maskedDetails(contact);
  return mapStrings(value, (text) => {
    // By a function: an address may hold `$&`, which has a meaning in a replacement.
    const withEmail = email === null ? text : text.replaceAll(email, () => contact.email!);
    return phone === null ? withEmail : withEmail.replaceAll(phone, `+${contact.phone}`);
  });
}

/**
 * Masks the id that a channel gives a message. WhatsApp's id is base64 and holds the phone number
 * that the customer had at that time. The number's digits become zeros, and the rest keeps the id
 * unique.
 */
export const maskId = (id: string, contact: Details): string =>
  maskText(id, contact).replace(/[A-Za-z0-9+/]{12,}={0,2}/g, maskBase64);

/** Inside the bytes, the phone number follows a byte that holds its length. */
function maskBase64(base64: string): string {
  const bytes = Buffer.from(base64, 'base64');
  const found = [...bytes.toString('latin1').matchAll(/(?<!\d)\d{6,15}(?!\d)/g)].filter(
    ({ index, 0: { length } }) => bytes[index - 1] === length,
  );
  if (found.length === 0) return base64;
  for (const {
    index,
    0: { length },
  } of found)
    bytes.fill('0', index, index + length);
  const masked = bytes.toString('base64');
  return base64.endsWith('=') ? masked : masked.replace(/=+$/, '');
}

/** Names a contact without revealing it: masked phone, else masked e-mail, else "Visitor …". */
export function contactDisplay(contact: Details & { readonly id: string }): string {
  const { phone, email } = maskedDetails(contact);
  return phone ?? email ?? visitorName(contact);
}
