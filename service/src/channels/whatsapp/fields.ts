/** Reads what Meta sends without trusting its shape: missing or malformed values read as empty. */

export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A text or number as well-formed Unicode without NUL; null when it is blank or something else. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return null;
  const text = value.toWellFormed().replaceAll('\0', '');
  return text.trim() === '' ? null : text;
}

/** Shortens a text with `…` at its end. @param max in characters (code points) */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  // A character takes one or two UTF-16 units, so these are enough to count beyond `max`.
  const characters = [...text.slice(0, 2 * (max + 1))];
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}
