/** Covers the longest message that a customer can write. Longer texts are read up to here. */
const MAX_READ_CHARACTERS = 8_192;

/**
 * Lower case, without accents, apostrophes, ordinal signs and invisible characters: `¿Dónde está?
 * Don't` → `¿donde esta? dont`.
 */
export const foldCase = (text: string): string =>
  text
    .slice(0, MAX_READ_CHARACTERS)
    .replace(/['’‘`´ºª°]|\p{Cf}/gu, '')
    .normalize('NFKD')
    .slice(0, 2 * MAX_READ_CHARACTERS) // one character may become eighteen
    .replace(/\p{M}+/gu, '')
    .toLowerCase();

/** The words of a text, folded; numbers are words too. */
export const wordsOf = (text: string): readonly string[] =>
  foldCase(text).match(/[\p{L}\p{N}]+/gu) ?? [];

/** A set of folded words, made from texts and other sets. */
export const wordSet = (...lists: readonly (string | ReadonlySet<string>)[]): ReadonlySet<string> =>
  new Set(lists.flatMap((list) => (typeof list === 'string' ? wordsOf(list) : [...list])));

/** The source of a pattern that matches what one of the patterns matches. */
export const anyOf = (...patterns: readonly string[]): string => `(?:${patterns.join('|')})`;

/** `order_id`, `orderId` and `order-id` → `order id`. */
export const splitName = (name: string): string =>
  name
    .slice(0, 200)
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replace(/[_\-.\s]+/g, ' ')
    .trim();

/** `order_id` → `Order id`, `orderID` → `Order ID`: the case of other letters stays. */
export function capitalizedName(name: string): string {
  const words = splitName(name);
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/**
 * A folded word without its plural ending in English, Spanish or Portuguese. Good for comparing, since
 * most singulars have the stem of their plural, but not for showing.
 */
export function stem(word: string): string {
  if (word.length < 3) return word;
  // cookie, cookies → cooky; shoe, shoes → sho; petição, petições → petico
  const base = word.replace(/ies?$/, 'y').replace(/(?:oe|ae|ao)s?$/, 'o');
  if (base.length < 4) return base;
  const singular = base.replace(/(?<!s)s$/, '');
  return singular.length > 4 ? singular.replace(/e$/, '') : singular;
}
