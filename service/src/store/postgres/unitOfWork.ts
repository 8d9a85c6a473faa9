import { Batcher } from '../../platform/async/batcher.ts';
import { KeyedSemaphore } from '../../platform/async/semaphore.ts';
import { toJson } from '../document.ts';
import type { Document, WordSearch } from '../store.ts';
import { assertNotEnded, type AnyQuery, type UnitOfWork } from '../unitOfWork.ts';
import type { Connection, Statement } from './connection/database.ts';
import { Conflict } from './connection/errors.ts';
import { JobWrites } from './jobs/jobWrites.ts';
import {
  MAX_READ_TOGETHER,
  readTogether,
  type ReadQuery,
  type Rows,
  MAX_ROWS,
  type Row,
  type Table,
} from './schema/tables.ts';
import { lockNumber } from './connection/sql.ts';
import type { OpenTransaction } from './connection/transaction.ts';

/** How many transactions of this process may lock the same document, or wait for it, at once. */
const MAX_PER_DOCUMENT = 3;

/** No place is free for this document. The transaction runs again when it has one. */
export class DocumentBusy extends Error {
  override readonly name = 'DocumentBusy';
  readonly key: string;

  constructor(key: string) {
    super(`too many transactions of this process want ${key}`);
    this.key = key;
  }
}

/**
 * Limits the transactions of this process that want the same document. Without a limit,
 * transactions that wait for one popular document, or for one that a stopped process has locked,
 * would take all connections to the database.
 */
export const documentSemaphore = (): KeyedSemaphore => new KeyedSemaphore(MAX_PER_DOCUMENT);

/** The places that one transaction holds. */
export class DocumentPlaces {
  readonly #semaphore: KeyedSemaphore;
  readonly #keys = new Set<string>();

  constructor(semaphore: KeyedSemaphore) {
    this.#semaphore = semaphore;
  }

  /** @throws DocumentBusy */
  take(key: string): void {
    if (this.#keys.has(key)) return;
    if (!this.#semaphore.tryAcquire(key)) throw new DocumentBusy(key);
    this.#keys.add(key);
  }

  /**
   * Waits for a place between two runs. The transaction holds no other place then, so two
   * transactions never wait for each other.
   */
  async waitFor(key: string): Promise<void> {
    await this.#semaphore.acquire(key);
    this.#keys.add(key);
  }

  releaseAll(): void {
    for (const key of this.#keys) this.#semaphore.release(key);
    this.#keys.clear();
  }
}

/** The version of a row that this transaction wrote itself. */
const OWN = Symbol('own');

interface Pending {
  readonly table: Table;
  /** By id; null: removed. */
  readonly rows: Map<string, Row | null>;
}

interface Write {
  readonly collection: string;
  readonly statement: Statement;
  /** How many rows must still be as they were read. */
  readonly expected: number;
}

/**
 * One transaction on one connection. Writes are held back until something reads their collection or
 * the transaction ends. A document that was changed between being read and being written is a
 * Conflict, and the transaction runs again. BEGIN is sent with the first lock or write.
 */
export class PostgresUnitOfWork implements UnitOfWork {
  readonly jobs: JobWrites;
  readonly #transaction: OpenTransaction;
  readonly #connection: Connection;
  /** Queries without locks. */
  readonly #reads: Batcher<ReadQuery, Rows>;
  readonly #tables: ReadonlyMap<string, Table>;
  readonly #places: DocumentPlaces;
  /** The versions of rows as they were read, by collection and id. */
  readonly #versions = new Map<string, string | typeof OWN>();
  /**
   * Documents that are locked or written, so that no other transaction can change them. Null: none.
   */
  readonly #known = new Map<string, Document | null>();
  /** Rows that have been locked since they were read. */
  readonly #locked = new Set<string>();
  readonly #pending = new Map<string, Pending>();
  /** Reads by id, for each collection, with and without locks. */
  readonly #readsById = new Map<string, Batcher<string, Document | null>>();
  #wrote = false;
  #written: { readonly table: string; readonly id: string } | null = null;
  #xid: string | null = null;
  #ended = false;

  constructor(
    transaction: OpenTransaction,
    tables: ReadonlyMap<string, Table>,
    queues: ReadonlySet<string>,
    places: DocumentPlaces,
  ) {
    this.#transaction = transaction;
    this.#connection = transaction.connection;
    this.#reads = new Batcher({
      run: async (queries) => {
        this.#assertOpen();
        return readTogether(this.#connection, queries);
      },
      schedule: process.nextTick,
      maxItems: MAX_READ_TOGETHER,
    });
    this.#tables = tables;
    this.#places = places;
    this.jobs = new JobWrites(queues);
  }

  get wrote(): boolean {
    return this.#wrote || !this.jobs.isEmpty;
  }

  /** One of the documents that it put; null when there is none. */
  get written(): { readonly table: string; readonly id: string } | null {
    return this.#written;
  }

  /** The transaction's number; null until it has locked something. */
  get xid(): string | null {
    return this.#xid;
  }

  /** Whether each pending write is on a locked or new row, so that none can be a Conflict. */
  get cannotConflict(): boolean {
    return [...this.#pending.values()].every(({ table, rows }) =>
      [...rows.keys()].every((id) => !this.#isUnlocked(table, id)),
    );
  }

  end(): void {
    this.#ended = true;
  }

  async get(collection: string, id: string): Promise<Document | null> {
    return this.#read(this.#table(collection), id, true);
  }

  async peek(collection: string, id: string): Promise<Document | null> {
    return this.#read(this.#table(collection), id, false);
  }

  async find(collection: string, query: AnyQuery): Promise<readonly Document[]> {
    const table = this.#table(collection);
    const read = table.find(query);
    if (query.limit <= 0) return [];
    await this.#sendPending(collection);
    const rows = await this.#reads.add(read);
    return rows.map(({ document, version }) =>
      this.#note(table, document as Document, String(version)),
    );
  }

  async search(collection: string, query: WordSearch): Promise<readonly Document[]> {
    const table = this.#table(collection);
    const statement = table.search(query);
    if (query.limit <= 0 || query.allOf.length === 0) return [];
    await this.#sendPending(collection);
    const { rows } = await this.#connection.query(statement);
    return rows
      .map(({ document, version }) => this.#note(table, document as Document, String(version)))
      .filter((document) => table.isWithin(document, query.within));
  }

  async put(collection: string, document: Document): Promise<void> {
    const table = this.#table(collection);
    const json = toJson(collection, document);
    this.#write(table, document.id, { id: document.id, json, document });
  }

  async delete(collection: string, id: string): Promise<boolean> {
    const table = this.#table(collection);
    const key = keyOf(table, id);
    const isThere = this.#versions.has(key) && this.#known.get(key) !== null;
    if (!isThere && (await this.#read(table, id, true)) === null) return false;
    this.#write(table, id, null);
    return true;
  }

  /**
   * Sends all pending writes of documents before it returns, and resolves when the server has taken
   * them.
   * @throws Conflict
   */
  send(): Promise<unknown> {
    // All statements are built before the first one is sent.
    return this.#send([...this.#pending.keys()].flatMap((name) => this.#takePending(name)));
  }

  /** Sends the pending writes of a collection, which a search must see. */
  async #sendPending(collection: string): Promise<void> {
    if (!this.#pending.has(collection)) return;
    await this.#transaction.begin();
    // The transaction may have ended during the await. A write sent after ROLLBACK would persist.
    this.#assertOpen();
    await this.#send(this.#takePending(collection));
  }

  #table(collection: string): Table {
    this.#assertOpen();
    return this.#tables.get(collection)!;
  }

  #assertOpen(): void {
    assertNotEnded(this.#ended);
  }

  async #read(table: Table, id: string, lock: boolean): Promise<Document | null> {
    const key = keyOf(table, id);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (lock) this.#places.take(key);
    let document = await this.#select(table, id, lock);
    if (lock && document === null) {
      this.#assertOpen();
      // There is no row to lock. Another transaction that reads this id waits here, and then finds
      // the document that the first one created.
      const { rows } = await this.#connection.query({
        text: 'SELECT pg_current_xact_id()::text AS xid, pg_advisory_xact_lock($1::bigint)',
        values: [lockNumber(`${table.name} ${id}`)],
        name: 'cs_lock',
      });
      this.#xid = String(rows[0]!.xid);
      document = await this.#select(table, id, lock);
    }
    if (lock) this.#known.set(key, document);
    return document;
  }

  #write(table: Table, id: string, row: Row | null): void {
    this.#wrote = true;
    let pending = this.#pending.get(table.collection);
    if (pending === undefined)
      this.#pending.set(table.collection, (pending = { table, rows: new Map() }));
    pending.rows.set(id, row);
    if (row !== null) this.#written = { table: table.name, id };
    else if (this.#written?.id === id) this.#written = null;
    this.#known.set(keyOf(table, id), row?.document ?? null);
  }

  /** Documents that are asked for at the same time are read, and locked, by one statement. */
  #select(table: Table, id: string, lock: boolean): Promise<Document | null> {
    const key = `${table.collection} ${lock}`;
    let reads = this.#readsById.get(key);
    if (reads === undefined) {
      reads = new Batcher<string, Document | null>({
        run: (ids) => this.#selectAll(table, ids, lock),
        schedule: queueMicrotask,
        // In the order of ids, because missing documents are locked next.
        compare: byText,
      });
      this.#readsById.set(key, reads);
    }
    return reads.add(id);
  }

  async #selectAll(
    table: Table,
    ids: readonly string[],
    lock: boolean,
  ): Promise<readonly (Document | null | Conflict)[]> {
    this.#assertOpen();
    const wanted = [...new Set(ids)];
    const rows = await (lock ? this.#lock(table, wanted) : this.#reads.add(table.peek(wanted)));
    const found = new Map(rows.map((row) => [(row.document as Document).id, row]));
    return ids.map((id) => {
      const row = found.get(id);
      if (row === undefined) return null;
      const document = row.document as Document;
      const version = String(row.version);
      return lock
        ? this.#noteLocked(table, document, version)
        : this.#note(table, document, version);
    });
  }

  async #lock(table: Table, ids: readonly string[]): Promise<readonly Record<string, unknown>[]> {
    void this.#transaction.begin();
    const { rows } = await this.#connection.query(table.lock(ids));
    if (rows.length > 0) this.#xid = String(rows[0]!.xid);
    return rows;
  }

  /**
   * Keeps the version that was read first. A put is compared with it, so that no decision rests on
   * two versions. A read without a lock may still return a newer one.
   */
  #note(table: Table, document: Document, version: string): Document {
    const key = keyOf(table, document.id);
    if (!this.#versions.has(key)) this.#versions.set(key, version);
    return document;
  }

  /** @returns Conflict when the version that was read before is no longer the current one */
  #noteLocked(table: Table, document: Document, version: string): Document | Conflict {
    const key = keyOf(table, document.id);
    const earlier = this.#versions.get(key) ?? version;
    if (earlier !== OWN && earlier !== version)
      return new Conflict(`${key} was changed by another transaction`);
    this.#locked.add(key);
    return this.#note(table, document, version);
  }

  /** Whether it was read without a lock, so that another transaction may have changed it. */
  #isUnlocked(table: Table, id: string): boolean {
    const key = keyOf(table, id);
    return typeof this.#versions.get(key) === 'string' && !this.#locked.has(key);
  }

  /**
   * Removals first, then changes and additions, so that a unique value is free when it is taken.
   */
  #takePending(collection: string): Write[] {
    const { table, rows } = this.#pending.get(collection)!;
    const removed: { id: string; version: string | null }[] = [];
    const known: (Row & { version: string })[] = [];
    const fresh: Row[] = [];
    for (const [id, row] of rows) {
      const read = this.#versions.get(keyOf(table, id));
      const version = typeof read === 'string' ? read : null;
      if (row === null) removed.push({ id, version });
      else if (version !== null) known.push({ ...row, version });
      else fresh.push(row);
    }
    const writes: Write[] = [];
    if (removed.length > 0)
      writes.push({
        collection,
        statement: table.delete(removed),
        expected: removed.filter(({ version }) => version !== null).length,
      });
    for (const part of partsOf(known))
      writes.push({ collection, statement: table.update(part), expected: part.length });
    for (const part of partsOf(fresh))
      writes.push({ collection, statement: table.upsert(part), expected: 0 });
    for (const id of rows.keys()) this.#versions.set(keyOf(table, id), OWN);
    this.#pending.delete(collection);
    return writes;
  }

  #send(writes: readonly Write[]): Promise<unknown> {
    return Promise.all(
      writes.map(async ({ collection, statement, expected }) => {
        const { rowCount } = await this.#connection.query(statement);
        if (rowCount! < expected)
          throw new Conflict(
            `documents of ${collection} were changed or removed by another transaction`,
          );
      }),
    );
  }
}

const byText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

const keyOf = (table: Table, id: string): string => `${table.collection} ${id}`;

function* partsOf<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < rows.length; at += MAX_ROWS) yield rows.slice(at, at + MAX_ROWS);
}
