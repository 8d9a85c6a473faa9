import { parsePhoneNumberFromString } from 'libphonenumber-js/max';

/**
 * Mobile numbers that have one digit more in some spellings: Argentina's have a 9 in calls from
 * abroad, Mexico's had a 1 until 2019, Brazil's got a 9. Brazilian landlines begin with 2 to 5.
 */
const WITH_OPTIONAL_DIGIT: readonly (readonly [RegExp, string])[] = [
  [/^(54)9?(\d{10})$/, '9'],
  [/^(52)1?(\d{10})$/, '1'],
  [/^(55\d\d)9?([6-9]\d{7})$/, '9'],
];

/**
 * The forms in which one number may be stored. People write it with the optional digit or without,
 * and WhatsApp knows them by either.
 * @param digits one of the forms
 */
export function formsOfPhone(digits: string): readonly string[] {
  for (const [pattern, digit] of WITH_OPTIONAL_DIGIT) {
    const [, before, after] = pattern.exec(digits) ?? [];
    if (before !== undefined) return [`${before}${after}`, `${before}${digit}${after}`];
  }
  return [digits];
}

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
