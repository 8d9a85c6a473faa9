import { parsePhoneNumberFromString } from 'libphonenumber-js/max';

/**
 * A phone number as it is stored and looked up: its digits, without a leading `+` or `00`.
 * `+54 9 11 5555-1234`, `0054…` and `5491155551234` give the same result. A number copied from an
 * address book may contain invisible characters and dashes of any kind.
 * @returns null when the text cannot be a phone number
 */
export function normalizePhone(copied: string): string | null {
  const text = copied.replace(/\p{Cf}/gu, '');
  if (!/^[+\d\s()./\p{Pd}]+$/u.test(text)) return null;
  const parsed = parsePhoneNumberFromString(text.replace(/^\s*00/, '+'));
  const digits = parsed ? parsed.number.slice(1) : text.replace(/\D/g, '').replace(/^00/, '');
  return digits.length >= 6 && digits.length <= 15 ? digits : null;
}
