import type { StoreClock } from '../../clockAndLog.ts';
import type { Document, Schema, WordSearch } from '../../store.ts';
import { indexesFor, noWords, type AnyQuery } from '../../unitOfWork.ts';
import { runOn, type Database, type Statement } from '../connection/database.ts';
import type { ReadQuery } from '../reads.ts';
import {
  nameOf,
  columnName,
  indexedFields,
  snakeCase,
  tableName,
  toColumn,
  toText,
} from '../connection/sql.ts';
import { lexemesOf, toQuery, toVector, WORDS } from './words.ts';

/** The schema of a store, as its transactions, dumps, restores and rewrites need it. */
export interface OpenSchema {
  readonly database: Database;
  readonly schemaName: string;
  readonly tables: ReadonlyMap<string, Table>;
  readonly queues: ReadonlySet<string>;
  /** The database's clock in milliseconds. */
  readonly nowSql: string;
  /** The wall clock of this process, which decides how long jobs wait. */
  readonly clock: StoreClock;
  /**
   * The schema lock's name when this process holds it exclusively, to keep others out; else null.
   */
  readonly exclusiveLock: string | null;
}

/** A collection's table: its columns, and the statements on it. */
export class Table {
  readonly collection: string;
  readonly name: string;
  /** The fields with a column, in the order of the statements. */
  readonly #fields: readonly string[];
  readonly #types: readonly string[];
  readonly #indexes: Schema[string]['indexes'];
  readonly #words: Schema[string]['words'];
  /** The columns that are computed from the document: its fields and its words. */
  readonly #derived: readonly string[];
  readonly #columns: string;

  constructor(
    schema: string,
    collection: string,
    { indexes, words }: Schema[string],
    types: ReadonlyMap<string, string>,
  ) {
    this.collection = collection;
    this.name = tableName(schema, collection);
    this.#fields = indexedFields(indexes);
    this.#indexes = indexes;
    this.#types = this.#fields.map((field) => {
      const type = types.get(snakeCase(field));
      if (type === undefined)
        throw new Error(
          `The table of ${collection} has no column for ${field}: a migration is missing`,
        );
      return type;
    });
    this.#words = words;
    if (words !== undefined && !types.has(WORDS))
      throw new Error(`The table of ${collection} has no column for words: a migration is missing`);
    this.#derived = [...this.#fields.map(columnName), ...(words === undefined ? [] : [WORDS])];
    this.#columns = ['id', 'document', ...this.#derived].join(', ');
  }

  get hasWords(): boolean {
    return this.#words !== undefined;
  }

  /**
   * Whether a document that a search found has this value of `within`. Two values may have the same
   * tag before their words. @see words.ts
   */
  isWithin(document: Document, value: string): boolean {
    return fieldOf(document, this.#words!.within) === value;
  }

  /**
   * The plan depends on how frequent the words are, so the statement must not be prepared.
   * @throws Error when the schema does not say which words the documents have
   */
  search({ within, allOf, before, limit }: WordSearch): Statement {
    if (this.#words === undefined) throw noWords(this.collection);
    const values: unknown[] = [toQuery(within, allOf), limit];
    const page = before === undefined ? '' : ` AND id < $${values.push(toText(before))}`;
    return {
      text: `SELECT document, xmin::text AS version FROM ${this.name} WHERE ${WORDS} @@ $1::tsquery${page} ORDER BY id DESC LIMIT $2`,
      values,
    };
  }

  /** @throws Error when no index of the schema fits, like the embedded store */
  find({ where, orderBy = 'id', direction = 'asc', after, limit }: AnyQuery): ReadQuery {
    indexesFor(this.collection, this.#indexes, { where, orderBy });
    const values: unknown[] = [];
    const types: string[] = [];
    const parameter = (value: unknown, type: string) => {
      types.push(type);
      return `q.p${values.push(toColumn(value)) - 1}`;
    };
    const conditions = Object.entries(where).map(([field, value]) =>
      value === null
        ? `${columnName(field)} IS NULL`
        : `${columnName(field)} = ${parameter(value, this.#typeOf(field))}`,
    );
    const order = columnName(orderBy);
    const beyond = direction === 'asc' ? '>' : '<';
    if (after !== undefined) {
      const value = parameter(after.value, this.#typeOf(orderBy));
      if (orderBy === 'id' || after.id === undefined)
        conditions.push(`${order} ${beyond} ${value}`);
      else conditions.push(`(${order}, id) ${beyond} (${value}, ${parameter(after.id, 'text')})`);
    }
    const condition = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
    const byField = direction === 'asc' ? `${order} NULLS FIRST, ` : `${order} DESC NULLS LAST, `;
    const byId = direction === 'asc' ? 'id' : 'id DESC';
    const sorting = orderBy === 'id' ? byId : byField + byId;
    const text = `SELECT document, xmin::text AS version FROM ${this.name}${condition} ORDER BY ${sorting} LIMIT ${parameter(limit, 'bigint')}`;
    return { text, types, values };
  }

  peek(id: string): ReadQuery {
    const text = `SELECT document, xmin::text AS version FROM ${this.name} WHERE id = q.p0`;
    return { text, types: ['text'], values: [toText(id)] };
  }

  /**
   * Locks the rows in the order of their ids, and returns the transaction's number with each.
   * @param waits false leaves out what is locked elsewhere
   */
  lock(ids: readonly string[], waits: boolean) {
    const values: unknown[] = [];
    const text = `SELECT document, xmin::text AS version, pg_current_xact_id()::text AS xid FROM ${this.name} WHERE ${idCondition(ids, values)}${ids.length === 1 ? '' : ' ORDER BY id'} FOR UPDATE${waits ? '' : ' SKIP LOCKED'}`;
    return { text, values, name: nameOf(text) };
  }

  /** Returns those of the ids that have a document. */
  listIds(ids: readonly string[]) {
    const text = `SELECT id FROM ${this.name} WHERE id = ANY($1::text[])`;
    return { text, values: [ids.map(toText)], name: nameOf(text) };
  }

  /** Inserts or replaces, in the order of the rows. */
  upsert(rows: readonly Row[]) {
    const set = ['document', ...this.#derived]
      .map((column) => `${column} = excluded.${column}`)
      .join(', ');
    const { text, values } = this.insert(rows);
    const upsert = `${text} ON CONFLICT (id) DO UPDATE SET ${set}`;
    return { text: upsert, values, name: nameOf(upsert) };
  }

  /** Inserts. The statement fails when an id exists already. */
  insert(rows: readonly Row[]) {
    const names = ['id', 'document', ...this.#derived];
    const types = ['text', 'text', ...this.#types, ...(this.hasWords ? ['text'] : [])];
    const lists = types.map((type, at) => `$${at + 1}::${type}[]`);
    const cells = names.map((name) => {
      if (name === WORDS) return toVector(`v.${name}`);
      return name === 'document' ? 'v.document::json' : `v.${name}`;
    });
    return {
      text: `INSERT INTO ${this.name} (${this.#columns}) SELECT ${cells.join(', ')} FROM unnest(${lists.join(', ')}) v (${names.join(', ')})`,
      values: [
        rows.map(({ id }) => toText(id)),
        rows.map(({ json }) => json),
        ...this.#fields.map((field) =>
          rows.map(({ document }) => toColumn(fieldOf(document, field))),
        ),
        ...(this.hasWords ? [rows.map(({ document }) => this.#wordsOf(document))] : []),
      ],
    };
  }

  /** The values of a document that no other may have, each with the fields that hold it. */
  uniqueValuesOf(document: Document): readonly string[] {
    return this.#indexes.flatMap(({ on, unique }) => {
      const values = unique ? on.map((field) => fieldOf(document, field) ?? null) : [null];
      return values.includes(null) ? [] : [JSON.stringify([on, values])];
    });
  }

  /** Locks rows that an earlier version of the service wrote without their words. */
  findWithoutWords(limit: number): Statement {
    return {
      text: `SELECT id, document FROM ${this.name} WHERE ${WORDS} IS NULL ORDER BY id DESC LIMIT ${limit} FOR UPDATE SKIP LOCKED`,
    };
  }

  /** Sets the words of rows; the documents are unchanged. */
  setWords(rows: readonly { readonly id: string; readonly document: Document }[]): Statement {
    return {
      text: `UPDATE ${this.name} t SET ${WORDS} = ${toVector('v.words')} FROM unnest($1::text[], $2::text[]) v (id, words) WHERE t.id = v.id`,
      values: [rows.map(({ id }) => id), rows.map(({ document }) => this.#wordsOf(document))],
    };
  }

  delete(ids: readonly string[]) {
    const text = `DELETE FROM ${this.name} WHERE id = ANY($1::text[])`;
    return { text, values: [ids.map(toText)], name: nameOf(text) };
  }

  /** The words of a document, with spaces between them, as the column gets them. */
  #wordsOf(document: Document): string {
    const { within, of } = this.#words!;
    return lexemesOf(fieldOf(document, within), of(document)).join(' ');
  }

  #typeOf(field: string): string {
    return field === 'id' ? 'text' : this.#types[this.#fields.indexOf(field)]!;
  }
}

export interface Row {
  readonly id: string;
  readonly json: string;
  readonly document: Document;
}

/** The most rows in one statement. */
export const MAX_ROWS = 500;

const fieldOf = (document: Document, field: string): unknown =>
  (document as unknown as Record<string, unknown>)[field];

const idCondition = (ids: readonly string[], values: unknown[]): string =>
  ids.length === 1
    ? `id = $${values.push(toText(ids[0]!))}`
    : `id = ANY($${values.push(ids.map(toText))}::text[])`;

/** The tables of a schema's collections, with the types of their columns in the database. */
export async function readTables(
  database: Database,
  schemaName: string,
  schema: Schema,
): Promise<ReadonlyMap<string, Table>> {
  const { rows } = await runOn(database, {
    text: `SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = $1`,
    values: [schemaName],
  });
  return new Map(
    Object.entries(schema).map(([collection, definition]) => {
      const types = new Map(
        rows
          .filter(({ table_name }) => table_name === snakeCase(collection))
          .map(({ column_name, data_type }) => [String(column_name), String(data_type)]),
      );
      if (types.size === 0)
        throw new Error(`There is no table for ${collection}: a migration is missing`);
      return [collection, new Table(schemaName, collection, definition, types)];
    }),
  );
}
