/**
 * Reading what Meta sends without trusting its shape: what is missing or of another kind is empty.
 */

export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/**
 * A text that can be stored: well-formed Unicode without NUL. Null when there is nothing to read in
 * it; numbers are read too.
 */
export function textOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return null;
  const text = value.toWellFormed().replaceAll('\0', '');
  return text.trim() === '' ? null : text;
}

/**
 * The text itself, or as much of it as fits, with `…` at its end. @param max in characters, not in
 * UTF-16 halves
 */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  const characters = [...text.slice(0, 2 * (max + 1))];
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}
