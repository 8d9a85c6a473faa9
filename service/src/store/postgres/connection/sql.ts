import { createHash } from 'node:crypto';

/** `workspaceId` → `workspace_id`, quoted. */
export const columnName = (field: string): string => quoted(snakeCase(field));

/** A collection's table: `"conversation_service"."chat_sessions"`. */
export const tableName = (schema: string, collection: string): string =>
  `${quoted(schema)}.${quoted(snakeCase(collection))}`;

export const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The fields that have a column, because an index names them. */
export const indexedFields = (
  indexes: readonly { readonly on: readonly string[]; readonly orderBy?: string }[],
): readonly string[] =>
  [
    ...new Set(
      indexes.flatMap(({ on, orderBy }) => [...on, ...(orderBy === undefined ? [] : [orderBy])]),
    ),
  ].filter((field) => field !== 'id');

/** PostgreSQL's text cannot contain NUL. It is escaped so that texts stay distinct and in order. */
export const toText = (text: string): string =>
  NEEDS_ESCAPE.test(text)
    ? text.replaceAll('\u0001', '\u0001\u0002').replaceAll('\u0000', '\u0001\u0001')
    : text;

/** Reverses `toText`. */
export const fromText = (text: string): string =>
  text.includes('\u0001')
    ? text.replace(/\u0001(.)/g, (_, second: string) => (second === '\u0001' ? '\u0000' : '\u0001'))
    : text;

const NEEDS_ESCAPE = /[\u0000\u0001]/;

/** A field's value for its column; a missing field is null. */
export const toColumn = (value: unknown): unknown =>
  typeof value === 'string' ? toText(value) : (value ?? null);

/** The number of an advisory lock. Two names with the same number wait for each other. */
export const lockNumber = (name: string): string =>
  createHash('sha256').update(name).digest().readBigInt64BE().toString();

const names = new Map<string, string>();

/** A short name for a prepared statement, the same for the same text. */
export function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) names.set(text, (name = `cs${names.size}`));
  return name;
}
