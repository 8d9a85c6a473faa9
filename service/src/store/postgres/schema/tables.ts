import type { StoreClock } from '../../clockAndLog.ts';
import type { Document, Schema, WordSearch } from '../../store.ts';
import { indexesFor, noWords, type AnyQuery } from '../../unitOfWork.ts';
import { type Connection, runOn, type Database, type Statement } from '../connection/database.ts';
import {
  nameOf,
  columnName,
  searchedFields,
  snakeCase,
  tableName,
  toColumn,
  toText,
} from '../connection/sql.ts';
import { lexemesOf, toQuery, toVector, WORDS } from './words.ts';

/** Returns the text of a query for `document` and `version`, and appends its values to `values`. */
export type ReadQuery = (values: unknown[]) => string;

export type Rows = readonly Record<string, unknown>[];

/** Each number of queries in a statement is a statement of its own to prepare. */
export const MAX_READ_TOGETHER = 4;

/** Runs queries without locks as one statement, which sees one moment of the database. */
export async function readTogether(
  connection: Connection,
  queries: readonly ReadQuery[],
): Promise<readonly Rows[]> {
  const values: unknown[] = [];
  const texts = queries.map((query) => query(values));
  const isSingle = texts.length === 1;
  const text = isSingle ? texts[0]! : texts.map(asPart).join(' UNION ALL ');
  const { rows } = await connection.query({ text, values, name: nameOf(text) });
  return isSingle ? [rows] : texts.map((_, i) => rows.filter(({ part }) => part === i));
}

const asPart = (text: string, i: number): string =>
  `(SELECT ${i} AS part, document, version FROM (${text}) q)`;

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
  readonly fields: readonly string[];
  readonly #types: readonly string[];
  readonly #indexes: Schema[string]['indexes'];
  readonly #words: Schema[string]['words'];
  /** Those that follow from the document: its fields, and its words. */
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
    this.fields = searchedFields(indexes);
    this.#indexes = indexes;
    this.#types = this.fields.map((field) => {
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
    this.#derived = [...this.fields.map(columnName), ...(words === undefined ? [] : [WORDS])];
    this.#columns = ['id', 'document', ...this.#derived].join(', ');
  }

  get hasWords(): boolean {
    return this.#words !== undefined;
  }

  /** Two values of `within` may have the same mark before their words. */
  isWithin(document: Document, value: string): boolean {
    return (document as unknown as Record<string, unknown>)[this.#words!.within] === value;
  }

  /** The words of a document, with spaces between them, as the column gets them. */
  wordsOf(document: Document): string {
    const { within, of } = this.#words!;
    const value = (document as unknown as Record<string, unknown>)[within];
    return lexemesOf(value, of(document)).join(' ');
  }

  /**
   * The plan depends on how frequent the words are, so the statement is not to be prepared.
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
  find(query: AnyQuery): ReadQuery {
    indexesFor(this.collection, this.#indexes, query);
    return (values) => this.#find(query, values);
  }

  #find(
    { where, orderBy = 'id', direction = 'asc', after, limit }: AnyQuery,
    values: unknown[],
  ): string {
    const parameter = (value: unknown) => `$${values.push(toColumn(value))}`;
    const conditions = Object.entries(where).map(([field, value]) =>
      value === null
        ? `${this.#column(field)} IS NULL`
        : `${this.#column(field)} = ${parameter(value)}`,
    );
    const order = orderBy === 'id' ? 'id' : columnName(orderBy);
    const beyond = direction === 'asc' ? '>' : '<';
    if (after !== undefined) {
      if (orderBy === 'id' || after.id === undefined)
        conditions.push(`${order} ${beyond} ${parameter(after.value)}`);
      else
        conditions.push(
          `(${order}, id) ${beyond} (${parameter(after.value)}, ${parameter(after.id)})`,
        );
    }
    const condition = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
    const byField = direction === 'asc' ? `${order} NULLS FIRST, ` : `${order} DESC NULLS LAST, `;
    const byId = direction === 'asc' ? 'id' : 'id DESC';
    const sorting = orderBy === 'id' ? byId : byField + byId;
    return `SELECT document, xmin::text AS version FROM ${this.name}${condition} ORDER BY ${sorting} LIMIT ${parameter(limit)}`;
  }

  peek(ids: readonly string[]): ReadQuery {
    return (values) =>
      `SELECT document, xmin::text AS version FROM ${this.name} WHERE ${has(ids, values)}`;
  }

  /** Locks the rows in the order of their ids, and returns the transaction's number with each. */
  lock(ids: readonly string[]) {
    const values: unknown[] = [];
    const text = `SELECT document, xmin::text AS version, pg_current_xact_id()::text AS xid FROM ${this.name} WHERE ${has(ids, values)}${ids.length === 1 ? '' : ' ORDER BY id'} FOR UPDATE`;
    return { text, values, name: nameOf(text) };
  }

  /** Inserts or replaces. */
  upsert(rows: readonly Row[]) {
    const { list, values } = this.#values(rows);
    const set = ['document', ...this.#derived]
      .map((column) => `${column} = excluded.${column}`)
      .join(', ');
    const text = `INSERT INTO ${this.name} (${this.#columns}) VALUES ${list} ON CONFLICT (id) DO UPDATE SET ${set}`;
    return { text, values, ...(rows.length <= MAX_PREPARED ? { name: nameOf(text) } : {}) };
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
        ...this.fields.map((field) =>
          rows.map(({ document }) =>
            toColumn((document as unknown as Record<string, unknown>)[field]),
          ),
        ),
        ...(this.hasWords ? [rows.map(({ document }) => this.wordsOf(document))] : []),
      ],
    };
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
      values: [rows.map(({ id }) => id), rows.map(({ document }) => this.wordsOf(document))],
    };
  }

  /** Replaces rows that are unchanged since they were read. The row count leaves out the others. */
  update(rows: readonly (Row & { readonly version: string })[]) {
    const { list, values } = this.#values(rows, true);
    const set = ['document', ...this.#derived]
      .map((column) => `${column} = v.${column}`)
      .join(', ');
    const text = `UPDATE ${this.name} t SET ${set} FROM (VALUES ${list}) v (${this.#columns}, version) WHERE t.id = v.id AND t.xmin::text = v.version`;
    return { text, values, ...(rows.length <= MAX_PREPARED ? { name: nameOf(text) } : {}) };
  }

  /**
   * Removes rows that are unchanged since they were read. The row count leaves out the others.
   * @param rows a row with version null is removed in any case
   */
  delete(rows: readonly { readonly id: string; readonly version: string | null }[]) {
    const version = `($2::text[])[array_position($1::text[], t.id COLLATE "C")]`;
    const text = `DELETE FROM ${this.name} t WHERE t.id = ANY($1::text[]) AND coalesce(${version}, t.xmin::text) = t.xmin::text`;
    return {
      text,
      values: [rows.map(({ id }) => toText(id)), rows.map(({ version }) => version)],
      name: nameOf(text),
    };
  }

  #values(rows: readonly (Row & { readonly version?: string })[], versioned = false) {
    const types = [
      'text',
      'json',
      ...this.#types,
      ...(this.hasWords ? ['words'] : []),
      ...(versioned ? ['text'] : []),
    ];
    const values: unknown[] = [];
    const cellOf = (cell: unknown, at: number) => {
      const parameter = `$${values.push(cell)}`;
      return types[at] === 'words' ? toVector(`${parameter}::text`) : `${parameter}::${types[at]}`;
    };
    const list = rows
      .map(({ id, json, document, version }) => {
        const cells = [
          toText(id),
          json,
          ...this.fields.map((field) =>
            toColumn((document as unknown as Record<string, unknown>)[field]),
          ),
          ...(this.hasWords ? [this.wordsOf(document)] : []),
          ...(versioned ? [version] : []),
        ];
        return `(${cells.map(cellOf).join(', ')})`;
      })
      .join(', ');
    return { list, values };
  }

  #column(field: string): string {
    if (field === 'id') return 'id';
    if (!this.fields.includes(field))
      throw new Error(
        `find in ${this.collection}: ${field} has no column; declare an index with it`,
      );
    return columnName(field);
  }
}

export interface Row {
  readonly id: string;
  readonly json: string;
  readonly document: Document;
}

/** Rows in one statement, which has at most 65,535 values. */
export const MAX_ROWS = 500;
const MAX_PREPARED = 4;

const has = (ids: readonly string[], values: unknown[]): string =>
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
