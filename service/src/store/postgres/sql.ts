import { createHash } from 'node:crypto';
import type { Schema } from '../store.ts';

/** `workspaceId` → `workspace_id`, quoted. */
export const columnName = (field: string): string => quoted(snakeCase(field));

/** `"conversation_service"."chat_sessions"`: where a collection's documents are. */
export const tableName = (schema: string, collection: string): string =>
  `${quoted(schema)}.${quoted(snakeCase(collection))}`;

export const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The fields of a collection that have a column: what an index names. */
export const searchedFields = (indexes: Schema[string]['indexes']): readonly string[] =>
  [
    ...new Set(
      indexes.flatMap(({ on, orderBy }) => [...on, ...(orderBy === undefined ? [] : [orderBy])]),
    ),
  ].filter((field) => field !== 'id');

/**
 * PostgreSQL's text holds no NUL. It is written as two characters that keep texts apart and in
 * their order.
 */
export const toText = (text: string): string =>
  ESCAPED.test(text)
    ? text.replaceAll('\u0001', '\u0001\u0002').replaceAll('\u0000', '\u0001\u0001')
    : text;

/** The text that `toText` made this of. */
export const fromText = (text: string): string =>
  text.includes('\u0001')
    ? text.replace(/\u0001(.)/g, (_, second: string) => (second === '\u0001' ? '\u0000' : '\u0001'))
    : text;

const ESCAPED = /[\u0000\u0001]/;

/** A document's value for its column; a field that is left out is null. */
export const toColumn = (value: unknown): unknown =>
  typeof value === 'string' ? toText(value) : (value ?? null);

/**
 * For an advisory lock: 64 bits of a hash. Two names that share them wait for each other, no more.
 */
export const lockNumber = (name: string): string =>
  createHash('sha256').update(name).digest().readBigInt64BE().toString();

const names = new Map<string, string>();

/** A short name for a prepared statement, the same for the same text. */
export function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) names.set(text, (name = `cs${names.size}`));
  return name;
}

/**
 * When the first job of a group is due, as an expression; each kind is looked up at the beginning
 * of its part of the index.
 */
export const earliestDue = (jobs: string, queue: string, group: string): string => {
  const of = (kind: string) =>
    `(SELECT min(due_at) FROM ${jobs} j WHERE j.queue = ${queue} AND j.group_key = ${group} AND ${kind})`;
  return `least(${of('NOT j.is_retry')}, ${of('j.is_retry')})`;
};
