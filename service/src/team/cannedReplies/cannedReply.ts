import type { Document } from '../../store/store.ts';

/** A text that the team sends often, with places for what differs from one customer to the next. */
export interface CannedReply extends Document {
  readonly workspaceId: string;
  readonly name: string;
  /** What is typed after `/` to find it; unique in its workspace. */
  readonly shortcut: string;
  readonly text: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export const MAX_CANNED_REPLIES = 200;
export const MAX_NAME_CHARACTERS = 80;
export const MAX_TEXT_CHARACTERS = 2000;
export const SHORTCUT = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** What can be filled in, each with its meaning. */
export const PLACEHOLDERS = {
  customer_name: 'the customer’s name',
  customer_first_name: 'the first word of that name',
  customer_email: 'the customer’s e-mail',
  customer_phone: 'the customer’s phone number',
  member_name: 'your name',
  workspace_name: 'the name of your workspace',
} as const;
type Placeholder = keyof typeof PLACEHOLDERS;

/** The value of each placeholder; null or empty when it is not known. */
export type Known = Readonly<Record<Placeholder, string | null>>;

/** `{{customer_name}}`, or `{{customer_name|there}}` with a fallback for when it is not known. */
const MARK = /\{\{\s*([^{}|]*?)\s*(?:\|([^{}]*))?\}\}/g;

/** The marks in a text that name none of the placeholders. */
export const unknownMarks = (text: string): readonly string[] =>
  [...text.matchAll(MARK)]
    .filter(([, name = '']) => !Object.hasOwn(PLACEHOLDERS, name))
    .map(([mark]) => mark);

/** Fills in a text. A mark that has neither a value nor a fallback stays, for a person to fill in. */
export const fillIn = (text: string, known: Known): string =>
  text.replaceAll(MARK, (mark: string, name: string, fallback?: string) =>
    Object.hasOwn(PLACEHOLDERS, name)
      ? known[name as Placeholder] || (fallback?.trim() ?? mark)
      : mark,
  );
