import { Batcher } from '../../platform/async/batcher.ts';
import type { KeyedSemaphore } from '../../platform/async/semaphore.ts';
import { toJson } from '../document.ts';
import type { Document, WordSearch } from '../store.ts';
import { assertNotEnded, type AnyQuery, type UnitOfWork } from '../unitOfWork.ts';
import { readRowOf, RunsAlone, type Batch, type ReadRow } from './batch.ts';
import type { Connection } from './connection/database.ts';
import { Conflict } from './connection/errors.ts';
import { JobWrites } from './jobs/jobWrites.ts';
import { MAX_READ_TOGETHER, type ReadQuery, type Reads, type Rows } from './reads.ts';
import type { Row, Table } from './schema/tables.ts';
import { sendWrites, type TableWrites } from './writes.ts';

/**
 * Another transaction of this process has the document or unique value. The transaction that wanted
 * it runs again once it holds the place.
 */
export class DocumentBusy extends Error {
  override readonly name = 'DocumentBusy';
  readonly key: string;

  constructor(key: string) {
    super(`another transaction of this process has ${key}`);
    this.key = key;
  }
}

/**
 * The documents and unique values that one transaction locks or writes. Others of this process that
 * want one of them wait here, in turn, and hold no connection.
 */
export class DocumentPlaces {
  readonly #semaphore: KeyedSemaphore;
  readonly #keys = new Set<string>();

  /** @param semaphore shared by all transactions of the process, with one place for each key */
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
   * Takes all of these, and waits for those that are not free. Only to be called between two runs,
   * when the transaction holds no place. All transactions wait in the same order, so that two never
   * wait for each other.
   */
  async waitFor(keys: Iterable<string>): Promise<void> {
    for (const key of [...keys].sort()) {
      await this.#semaphore.acquire(key);
      this.#keys.add(key);
    }
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

interface UnitOfWorkOptions {
  readonly tables: ReadonlyMap<string, Table>;
  readonly queues: ReadonlySet<string>;
  readonly places: DocumentPlaces;
  /** Reads before the first lock, outside of any transaction of the database. */
  readonly reads: Reads;
  /** As `reads`, for searches. */
  readonly search: Connection['query'];
  readonly join: () => Promise<Batch>;
}

/**
 * One transaction. It joins a batch at its first lock or, when it locks nothing, at the end with
 * its writes. Reads before that need no batch. Writes are held back until the end, or until the
 * transaction reads their collection. If another transaction changes a document between this one's
 * read and its write, there is a Conflict, and this one runs again.
 */
export class PostgresUnitOfWork implements UnitOfWork {
  readonly jobs: JobWrites;
  readonly #options: UnitOfWorkOptions;
  #batch: Batch | null = null;
  #joining: Promise<Batch> | null = null;
  /** Queries that are asked for at the same time read one snapshot of the database. */
  readonly #finds: Batcher<ReadQuery, Rows>;
  /** The versions of rows as they were read, by collection and id. */
  readonly #versions = new Map<string, string | typeof OWN>();
  /** Documents that this transaction has locked or written. Null: there is none. */
  readonly #known = new Map<string, Document | null>();
  /** Rows that have been locked since they were read. */
  readonly #locked = new Set<string>();
  readonly #pending = new Map<string, Pending>();
  #wrote = false;
  #ended = false;
  #isAbandoned = false;

  constructor(options: UnitOfWorkOptions) {
    this.#options = options;
    this.jobs = new JobWrites(options.queues);
    this.#finds = new Batcher({
      run: async (queries) => {
        this.#assertOpen();
        return this.#reader().together(queries);
      },
      schedule: queueMicrotask,
      maxItems: MAX_READ_TOGETHER,
    });
  }

  /** Ends it. Resolves when what it wrote, if anything, is durable. */
  async commit(): Promise<void> {
    this.#ended = true;
    if (!this.#wrote && this.jobs.isEmpty) return this.#batch?.leave(this);
    const batch = await this.#join();
    await this.#lockUnlocked();
    const tables = [...this.#pending.keys()].sort().map((name) => this.#takePending(name));
    await batch.commit(this, { tables, jobs: this.jobs });
  }

  /** Ends it without keeping anything. */
  abandon(): void {
    this.#ended = true;
    this.#isAbandoned = true;
    // In a batch that goes on, its rows stay locked. Its places are released when the batch ends.
    if (this.#batch === null || this.#batch.isOver) this.#options.places.releaseAll();
    this.#batch?.leave(this);
  }

  async get(collection: string, id: string): Promise<Document | null> {
    return this.#lock(this.#table(collection), id);
  }

  async peek(collection: string, id: string): Promise<Document | null> {
    const table = this.#table(collection);
    const known = this.#known.get(keyOf(table, id));
    return known === undefined ? this.#read(table, id) : known;
  }

  async find(collection: string, query: AnyQuery): Promise<readonly Document[]> {
    const table = this.#table(collection);
    const readQuery = table.find(query);
    if (query.limit <= 0) return [];
    await this.#sendPending(collection);
    const rows = await this.#finds.add(readQuery);
    return rows.map((row) => this.#note(table, readRowOf(row)));
  }

  async search(collection: string, query: WordSearch): Promise<readonly Document[]> {
    const table = this.#table(collection);
    const statement = table.search(query);
    if (query.limit <= 0 || query.allOf.length === 0) return [];
    await this.#sendPending(collection);
    this.#batch?.assertMember(this);
    const { rows } = await (this.#batch?.query(statement) ?? this.#options.search(statement));
    return rows
      .map((row) => this.#note(table, readRowOf(row)))
      .filter((document) => table.isWithin(document, query.within));
  }

  async put(collection: string, document: Document): Promise<void> {
    const table = this.#table(collection);
    const json = toJson(collection, document);
    for (const value of table.uniqueValuesOf(document))
      this.#options.places.take(`${collection} ${value}`);
    this.#write(table, document.id, { id: document.id, json, document });
  }

  async delete(collection: string, id: string): Promise<boolean> {
    const table = this.#table(collection);
    const key = keyOf(table, id);
    const isThere = this.#versions.has(key) && this.#known.get(key) !== null;
    if (!isThere && (await this.#lock(table, id)) === null) return false;
    this.#write(table, id, null);
    return true;
  }

  #table(collection: string): Table {
    this.#assertOpen();
    return this.#options.tables.get(collection)!;
  }

  #assertOpen(): void {
    assertNotEnded(this.#ended);
  }

  #join(): Promise<Batch> {
    this.#joining ??= (async () => {
      const { join, places } = this.#options;
      const batch = await join();
      batch.enter(this, () => places.releaseAll());
      this.#batch = batch;
      if (this.#isAbandoned) batch.leave(this);
      return batch;
    })();
    return this.#joining;
  }

  async #lock(table: Table, id: string): Promise<Document | null> {
    const key = keyOf(table, id);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const batch = await this.#join();
    this.#assertOpen();
    this.#options.places.take(key);
    const row = await batch.lock(this, table, id);
    const document = row === null ? null : this.#noteLocked(table, row);
    this.#known.set(key, document);
    return document;
  }

  /** @throws Conflict when something that is written was changed since it was read */
  async #lockUnlocked(): Promise<void> {
    const batch = await this.#join();
    const unlocked = [...this.#pending.values()].flatMap(({ table, rows }) =>
      [...rows.keys()].filter((id) => this.#isUnlocked(table, id)).map((id) => ({ table, id })),
    );
    await Promise.all(
      unlocked.map(async ({ table, id }) => {
        const row = await batch.lock(this, table, id);
        if (row === null) throw new Conflict(`${keyOf(table, id)} was removed`);
        this.#noteLocked(table, row);
      }),
    );
  }

  /**
   * Sends the pending writes of a collection, which a search must see.
   * @throws RunsAlone when others would see them too
   */
  async #sendPending(collection: string): Promise<void> {
    if (!this.#pending.has(collection)) return;
    const batch = await this.#join();
    if (batch.isShared) throw new RunsAlone(`it reads what it wrote to ${collection}`);
    await this.#lockUnlocked();
    await batch.transaction.begin();
    // The transaction may have ended during the await. A write sent after ROLLBACK would persist.
    this.#assertOpen();
    if (!this.#pending.has(collection)) return;
    await sendWrites(batch.transaction.connection, [{ tables: [this.#takePending(collection)] }]);
  }

  #write(table: Table, id: string, row: Row | null): void {
    const key = keyOf(table, id);
    this.#options.places.take(key);
    this.#wrote = true;
    let pending = this.#pending.get(table.collection);
    if (pending === undefined)
      this.#pending.set(table.collection, (pending = { table, rows: new Map() }));
    pending.rows.set(id, row);
    this.#known.set(key, row?.document ?? null);
  }

  async #read(table: Table, id: string): Promise<Document | null> {
    const [rows] = await this.#reader().together([table.peek(id)]);
    this.#assertOpen();
    return rows![0] === undefined ? null : this.#note(table, readRowOf(rows![0]));
  }

  #reader(): Reads {
    this.#batch?.assertMember(this);
    return this.#batch?.reads ?? this.#options.reads;
  }

  /**
   * Keeps the version that was read first. A put is compared with it, so that no decision rests on
   * two versions. A read without a lock may still return a newer one.
   */
  #note(table: Table, { document, version }: ReadRow): Document {
    const key = keyOf(table, document.id);
    if (!this.#versions.has(key)) this.#versions.set(key, version);
    return document;
  }

  /** @throws Conflict when the version that was read before is no longer the current one */
  #noteLocked(table: Table, row: ReadRow): Document {
    const key = keyOf(table, row.document.id);
    const earlier = this.#versions.get(key) ?? row.version;
    if (earlier !== OWN && earlier !== row.version)
      throw new Conflict(`${key} was changed by another transaction`);
    this.#locked.add(key);
    return this.#note(table, row);
  }

  /** Whether it was read without a lock, so that another transaction may have changed it. */
  #isUnlocked(table: Table, id: string): boolean {
    const key = keyOf(table, id);
    return typeof this.#versions.get(key) === 'string' && !this.#locked.has(key);
  }

  #takePending(collection: string): TableWrites {
    const { table, rows } = this.#pending.get(collection)!;
    this.#pending.delete(collection);
    const all = [...rows];
    const removed = all.flatMap(([id, row]) => (row === null ? [id] : []));
    const put = all.flatMap(([, row]) => (row === null ? [] : [row]));
    const wasRead = ({ id }: Row) => this.#versions.has(keyOf(table, id));
    const writes = {
      table,
      removed,
      changed: put.filter(wasRead),
      added: put.filter((row) => !wasRead(row)),
    };
    for (const id of rows.keys()) this.#versions.set(keyOf(table, id), OWN);
    return writes;
  }
}

const keyOf = (table: Table, id: string): string => `${table.collection} ${id}`;
