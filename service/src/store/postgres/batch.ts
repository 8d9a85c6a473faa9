import { Batcher } from '../../platform/async/batcher.ts';
import { compareText } from '../../platform/compareText.ts';
import type { Document } from '../store.ts';
import type { Connection, Result, Statement } from './connection/database.ts';
import { isOutage } from './connection/errors.ts';
import { fromText, lockNumber } from './connection/sql.ts';
import { OpenTransaction } from './connection/transaction.ts';
import { Reads } from './reads.ts';
import type { Table } from './schema/tables.ts';
import type { Written } from './writes.ts';

/** How long a batch waits for its last members once a member that wrote something has ended. */
const LATE_MS = 200;

/**
 * A transaction cannot go on in a batch with others: it would have to wait for a lock, or read what
 * it wrote; it takes too long; or the database refused the batch. It runs again in a batch of its
 * own, a little later if too many transactions run alone already.
 */
export class RunsAlone extends Error {
  override readonly name: string = 'RunsAlone';
}

/** Another connection has a document. It may be free when the next batch begins. */
export class LockedElsewhere extends RunsAlone {
  override readonly name = 'LockedElsewhere';
}

/** A document as it was read. */
export interface ReadRow {
  readonly document: Document;
  readonly version: string;
}

interface BatchOptions {
  readonly connection: Connection;
  /** How many transactions take part. */
  readonly size: number;
  /** Whether it may wait for locks of other connections. Only a batch of one may. */
  readonly isPatient: boolean;
  /** Writes, commits, and releases the connection. */
  readonly commit: (batch: Batch, written: readonly Written[]) => Promise<void>;
  readonly onEnd: () => void;
}

/**
 * One transaction of the database for several of ours, its members. They share statements and the
 * commit. Each locks documents of its own, and nothing is written until all have ended, so that no
 * member sees more of another than it would on a connection of its own.
 * @see docs/decisions/0051-transactions-in-batches.md
 */
export class Batch {
  readonly transaction: OpenTransaction;
  /** Reads of its members after their first lock. */
  readonly reads: Reads;
  readonly #options: BatchOptions;
  readonly #locks = new Map<string, Batcher<string, ReadRow | null>>();
  readonly #members = new Set<object>();
  readonly #written: {
    readonly written: Written;
    readonly settled: PromiseWithResolvers<undefined>;
  }[] = [];
  readonly #onEnd: (() => void)[] = [];
  #xid: string | null = null;
  #isOver = false;
  #late: NodeJS.Timeout | undefined;
  #toCome: number;

  constructor(options: BatchOptions) {
    this.#options = options;
    this.transaction = new OpenTransaction(options.connection);
    this.#toCome = options.size;
    this.reads = new Reads({
      run: (statements) => {
        this.#assertNotOver();
        return Promise.all(statements.map((statement) => this.query(statement)));
      },
    });
  }

  /** The transaction's number; null until it has locked something. */
  get xid(): string | null {
    return this.#xid;
  }

  /** Whether it has begun to commit or to roll back: it takes no more statements. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether others take part. If not, what is written can be sent at any time. */
  get isShared(): boolean {
    return this.#options.size > 1;
  }

  /** @param onEnd called when the batch has ended, and its locks with it */
  enter(member: object, onEnd: () => void): void {
    this.#toCome -= 1;
    this.#members.add(member);
    this.#onEnd.push(onEnd);
  }

  /** @throws RunsAlone when the batch goes on without this member */
  assertMember(member: object): void {
    if (!this.#members.has(member)) throw new RunsAlone('the batch went on without it');
  }

  /** @throws RunsAlone instead of an error that one member alone may have caused */
  async query(statement: Statement): Promise<Result> {
    try {
      return await this.#options.connection.query(statement);
    } catch (error) {
      throw this.isShared && !isOutage(error)
        ? new RunsAlone('the database refused a statement', { cause: error })
        : error;
    }
  }

  /**
   * Locks a document, or an id that has none yet. Those that are asked for at the same time are
   * locked by one statement.
   * @throws LockedElsewhere when another connection has it
   */
  lock(member: object, table: Table, id: string): Promise<ReadRow | null> {
    this.assertMember(member);
    let locks = this.#locks.get(table.name);
    if (locks === undefined) {
      locks = new Batcher<string, ReadRow | null>({
        run: (ids) => this.#lockAll(table, ids),
        schedule: process.nextTick,
      });
      this.#locks.set(table.name, locks);
    }
    return locks.add(id);
  }

  /** Ends a member that wrote something. Resolves when that is durable. */
  commit(member: object, written: Written): Promise<void> {
    this.assertMember(member);
    const settled = Promise.withResolvers<undefined>();
    this.#written.push({ written, settled });
    this.leave(member);
    return settled.promise;
  }

  /** Ends a member that keeps nothing. */
  leave(member: object): void {
    if (!this.#members.delete(member)) return;
    if (this.#members.size + this.#toCome === 0) void this.#end();
    else if (this.#written.length > 0)
      // What has arrived by then is handled first, in case it is this process that was late.
      this.#late ??= setTimeout(() => setImmediate(() => void this.#end()), LATE_MS);
  }

  async #end(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#late);
    this.#members.clear();
    const all = this.#written;
    try {
      if (all.length > 0)
        await this.#options.commit(
          this,
          all.map(({ written }) => written),
        );
      else await this.transaction.end();
      for (const { settled } of all) settled.resolve(undefined);
    } catch (error) {
      const reason =
        all.length > 1 && !isOutage(error)
          ? new RunsAlone('the database refused the batch', { cause: error })
          : error;
      for (const { settled } of all) settled.reject(reason);
    } finally {
      for (const onEnd of this.#onEnd) onEnd();
      this.#options.onEnd();
    }
  }

  async #lockAll(
    table: Table,
    ids: readonly string[],
  ): Promise<readonly (ReadRow | null | RunsAlone)[]> {
    this.#assertNotOver();
    // In the order of ids, as all transactions lock them.
    const wanted = [...new Set(ids)].sort(compareText);
    void this.transaction.begin();
    const rows = await this.#lockRows(table, wanted);
    const missing = wanted.filter((id) => !rows.has(id));
    const elsewhere =
      missing.length === 0 ? new Set() : await this.#lockMissing(table, missing, rows);
    return ids.map((id) =>
      elsewhere.has(id)
        ? new LockedElsewhere(`another connection has ${table.name} ${id}`)
        : (rows.get(id) ?? null),
    );
  }

  async #lockRows(table: Table, ids: readonly string[]): Promise<Map<string, ReadRow>> {
    const { isPatient } = this.#options;
    const { rows } = await this.query(table.lock(ids, isPatient));
    if (rows.length > 0) this.#xid = String(rows[0]!.xid);
    return new Map(rows.map((row) => [(row.document as Document).id, readRowOf(row)]));
  }

  /**
   * Locks ids for which no row was returned: there is none, or it is locked elsewhere. Another
   * transaction that reads such an id waits for the same lock, and then finds the document that was
   * created under it.
   * @param rows gets the documents that were created before we had the lock
   * @returns the ids that another connection has
   */
  async #lockMissing(
    table: Table,
    ids: readonly string[],
    rows: Map<string, ReadRow>,
  ): Promise<ReadonlySet<string>> {
    this.#assertNotOver();
    const { isPatient } = this.#options;
    const lock = isPatient
      ? 'pg_advisory_xact_lock(n) IS NOT NULL'
      : 'pg_try_advisory_xact_lock(n)';
    // One after the other on the server, in one trip.
    const [locks, existing, created] = await Promise.all([
      this.query({
        text: `SELECT pg_current_xact_id()::text AS xid, ${lock} AS is_ours FROM unnest($1::bigint[]) n`,
        values: [ids.map((id) => lockNumber(`${table.name} ${id}`))],
        name: isPatient ? 'cs_lock' : 'cs_try_lock',
      }),
      isPatient ? null : this.query(table.listIds(ids)),
      this.#lockRows(table, ids),
    ]);
    this.#xid = String(locks.rows[0]!.xid);
    for (const [id, row] of created) rows.set(id, row);
    // A row that exists but was left out by SKIP LOCKED is locked by another connection.
    const locked = new Set(existing?.rows.map(({ id }) => fromText(String(id))));
    return new Set(
      ids.filter((id, i) => !rows.has(id) && (locks.rows[i]!.is_ours !== true || locked.has(id))),
    );
  }

  #assertNotOver(): void {
    // A statement that is sent after the commit would run in another caller's transaction.
    if (this.#isOver) throw new RunsAlone('the batch has ended');
  }
}

export const readRowOf = ({ document, version }: Record<string, unknown>): ReadRow => ({
  document: document as Document,
  version: String(version),
});
