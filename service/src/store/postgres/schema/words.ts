import { createHash } from 'node:crypto';
import type { SearchedWord } from '../../store.ts';
import { remember } from '../../../platform/remember.ts';
import { toText } from '../connection/sql.ts';

/** The column for the words of a document, a tsvector with a GIN index. */
export const WORDS = 'words';

const TAG_CHARACTERS = 8;

/**
 * Stands before each word of a workspace, so that searches read no other workspace's part of the
 * index.
 */
const tagOf = remember(10_000, (within) =>
  createHash('sha256').update(within).digest('base64url').slice(0, TAG_CHARACTERS),
);

export const lexemesOf = (within: unknown, words: Iterable<string>): readonly string[] => {
  const tag = tagOf(String(within));
  return [...new Set(words)].map((word) => tag + toText(word));
};

/** A tsvector without positions, of words with spaces between them. */
export const toVector = (words: string): string =>
  `array_to_tsvector(string_to_array(${words}, ' '))`;

/** A tsquery in PostgreSQL's syntax. */
export const toQuery = (within: string, allOf: readonly (readonly SearchedWord[])[]): string =>
  allOf
    .map((anyOf) => `(${anyOf.map((searched) => termOf(tagOf(within), searched)).join(' | ')})`)
    .join(' & ');

const termOf = (tag: string, { word, isPrefix }: SearchedWord): string =>
  `'${(tag + toText(word)).replaceAll('\\', '\\\\').replaceAll("'", "''")}'${isPrefix ? ':*' : ''}`;
