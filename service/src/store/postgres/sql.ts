import type { Schema } from '../store.ts';

/** `workspaceId` → `workspace_id`, quoted. */
export const columnName = (field: string): string => quoted(snakeCase(field));

/** `"conversation_service"."chat_sessions"`: where a collection's documents are. */
export const tableName = (schema: string, collection: string): string => `${quoted(schema)}.${quoted(snakeCase(collection))}`;

export const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The fields of a collection that have a column: what an index names. */
export const searchedFields = (indexes: Schema[string]['indexes']): readonly string[] =>
  [...new Set(indexes.flatMap(({ on, orderBy }) => [...on, ...(orderBy === undefined ? [] : [orderBy])]))].filter((field) => field !== 'id');

/**
 * PostgreSQL's text holds no NUL. It is written as two characters that keep texts apart and in their order.
 */
export const toText = (text: string): string => (ESCAPED.test(text) ? text.replaceAll('\u0001', '\u0001\u0002').replaceAll('\u0000', '\u0001\u0001') : text);

/** The text that `toText` made this of. */
export const fromText = (text: string): string => (text.includes('\u0001') ? text.replace(/\u0001(.)/g, (_, second: string) => (second === '\u0001' ? '\u0000' : '\u0001')) : text);

const ESCAPED = /[\u0000\u0001]/;

/** A document's value for its column; a field that is left out is null. */
export const toColumn = (value: unknown): unknown => (typeof value === 'string' ? toText(value) : (value ?? null));
