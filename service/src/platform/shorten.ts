/**
 * Shortens a text for a sentence: its beginning and an ellipsis if it has more than `max` characters
 * (UTF-16 units). Half of an emoji at the cut becomes U+FFFD.
 */
export const shorten = (text: string, max: number): string =>
  text.length > max ? `${text.slice(0, max).toWellFormed()}…` : text;
