import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreClock } from '../options.ts';
import type { Schema, Transaction } from '../store.ts';
import type { ChangeReader } from './changeReader.ts';
import type { Connection, Database } from './database.ts';
import { DocumentBusy, DocumentPlaces, documentSemaphore } from './documentPlaces.ts';
import {
  isOutage,
  isToBeRunAgain,
  isUniqueViolation,
  isUnsent,
  unavailable,
  uniqueViolation,
} from './errors.ts';
import type { DueGroup, WrittenJobs } from './jobWrites.ts';
import type { GroupLeases } from './groupLeases.ts';
import { LostCommit, wasCommitted, type CommitMarks } from './lostCommit.ts';
import type { Outage } from './outage.ts';
import { UnitOfWork, transactionsOf } from './unitOfWork.ts';
import { quoted } from './sql.ts';
import type { Table } from './tables.ts';
import type { DatabaseClock } from './databaseClock.ts';
import { OpenTransaction, readXid } from './transaction.ts';

/** A transaction that met others is run again; so many times it never happens. */
const MAX_RUNS = 50;
/**
 * A unique violation may come from one who was faster: the second run finds what that one wrote.
 */
const MAX_VIOLATIONS = 3;
/** As long as PostgreSQL waits for a lock. */
const MAX_BUSY_MS = 15_000;

/** What others have to be shown of a transaction. */
export interface Committed<T> {
  readonly value: T;
  readonly jobs: WrittenJobs;
  /** Null: it has written no document. */
  readonly xid: string | null;
  /** Group leases that were there before, or are being made by others. */
  readonly there: readonly DueGroup[];
}

interface Done<T> extends Committed<T> {
  /** Queues that are known to the database for sure. */
  readonly noted: readonly string[];
}

export interface TransactionRunnerOptions<S extends Schema> {
  readonly database: Database;
  readonly schema: S;
  readonly schemaName: string;
  readonly tables: ReadonlyMap<string, Table>;
  readonly queues: ReadonlySet<string>;
  /** The database's clock in milliseconds. */
  readonly nowSql: string;
  /** The wall clock by which callers name the times of jobs. */
  readonly clock: StoreClock;
  readonly time: Pick<DatabaseClock, 'estimate'>;
  readonly outage: Pick<Outage, 'watch'>;
  readonly leases: Pick<GroupLeases, 'offerWithin'>;
  readonly changes: Pick<ChangeReader<S>, 'life'>;
}

/**
 * Runs transactions: again where they met others, through cut connections, with as few trips as can
 * be. @see docs/decisions/0031, 0033
 */
export class TransactionRunner<S extends Schema> {
  readonly #options: TransactionRunnerOptions<S>;
  readonly #transactionOf: (session: UnitOfWork) => Transaction<S>;
  readonly #notedQueues = new Set<string>();
  readonly #documents = documentSemaphore();

  constructor(options: TransactionRunnerOptions<S>) {
    this.#options = options;
    this.#transactionOf = transactionsOf(options.schema);
  }

  /**
   * Runs a transaction until it has met nobody else, and is durable.
   * @throws StoreUnavailable, UniqueViolation, what the function throws
   */
  async run<T>(fn: (tx: Transaction<S>) => Promise<T>): Promise<Committed<T>> {
    const { noted, ...committed } = await this.#runUntilAlone(fn);
    for (const queue of noted) this.#notedQueues.add(queue);
    return committed;
  }

  async #runUntilAlone<T>(fn: (tx: Transaction<S>) => Promise<T>): Promise<Done<T>> {
    const places = new DocumentPlaces(this.#documents);
    const giveUpAt = performance.now() + MAX_BUSY_MS;
    for (let runs = 1, violations = 0; ; runs += 1) {
      try {
        return await this.#options.outage.watch(() =>
          this.#settled(() => this.#runOnce(fn, places)),
        );
      } catch (error) {
        if (error instanceof DocumentBusy) {
          if (performance.now() > giveUpAt)
            throw unavailable('the same documents are changed by too many at once', error);
          await places.waitFor(error.key);
          runs -= 1;
          continue;
        }
        if (isUniqueViolation(error)) {
          violations += 1;
          if (violations >= MAX_VIOLATIONS) throw uniqueViolation(error);
        } else if (!isToBeRunAgain(error)) throw error;
        if (runs >= MAX_RUNS)
          throw unavailable('the same documents are changed by too many at once', error);
        if (runs > 2) await sleep(Math.random() * 10 * Math.min(runs, 10));
      }
    }
  }

  /**
   * When the answer to a commit was lost with its connection, the server says what became of it.
   */
  async #settled<T>(run: () => Promise<Done<T>>): Promise<Done<T>> {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof LostCommit)) throw error;
      const { marks, result, cause } = error as LostCommit<Done<T>>;
      if (await wasCommitted(this.#options.database, this.#options.schemaName, marks))
        return result;
      throw cause;
    }
  }

  async #runOnce<T>(
    fn: (tx: Transaction<S>) => Promise<T>,
    places: DocumentPlaces,
  ): Promise<Done<T>> {
    try {
      return await this.#runAt(
        new OpenTransaction(await this.#options.database.connect()),
        fn,
        places,
      );
    } finally {
      places.releaseAll();
    }
  }

  async #runAt<T>(
    transaction: OpenTransaction,
    fn: (tx: Transaction<S>) => Promise<T>,
    places: DocumentPlaces,
  ): Promise<Done<T>> {
    const session = new UnitOfWork(transaction, this.#options.tables, this.#options.queues, places);
    try {
      const value = await fn(this.#transactionOf(session));
      session.end();
      if (session.wrote) return await this.#commit(transaction, session, value);
      if (transaction.isBegun) await transaction.commit();
      return { value, jobs: NO_JOBS, xid: null, there: [], noted: [] };
    } finally {
      session.end();
      await transaction.end();
    }
  }

  /** Sends what was written, and COMMIT: in one go where nothing has to be heard of before. */
  async #commit<T>(transaction: OpenTransaction, session: UnitOfWork, value: T): Promise<Done<T>> {
    await transaction.begin();
    const { connection } = transaction;
    const marks = (xid: string): CommitMarks => ({
      xid,
      life: this.#options.changes.life,
      written: session.written,
    });
    const time = {
      wall: this.#options.clock.now().getTime(),
      database: this.#options.time.estimate,
      sql: this.#options.nowSql,
    };
    if (session.xid !== null && session.isSure && !session.jobs.needGroupLeases) {
      const committed = {
        value,
        jobs: { placed: [], ids: session.jobs.ids },
        xid: session.xid,
        there: [],
        noted: [],
      };
      return commitWith(
        transaction,
        [session.send(), session.jobs.send(connection, this.#options.schemaName, time)],
        marks(session.xid),
        committed,
      );
    }
    const added = session.jobs.added(time);
    const [, released, noted, there, xid] = await allDone([
      session.send(),
      session.jobs.send(connection, this.#options.schemaName, time),
      this.#noteQueues(connection, added),
      this.#options.leases.offerWithin(connection, added),
      session.xid ?? readXid(connection),
    ]);
    const thereToo = await this.#options.leases.offerWithin(connection, released);
    const committed = {
      value,
      jobs: { placed: [...added, ...released], ids: session.jobs.ids },
      xid,
      there: [...there, ...thereToo],
      noted,
    };
    return commitWith(transaction, [], marks(xid), committed);
  }

  /** So that a queue that holds nothing now is still counted. */
  async #noteQueues(
    connection: Connection,
    placed: readonly DueGroup[],
  ): Promise<readonly string[]> {
    const fresh = [...new Set(placed.map(({ queue }) => queue))]
      .filter((queue) => !this.#notedQueues.has(queue))
      .sort();
    if (fresh.length === 0) return [];
    const queues = `${quoted(this.#options.schemaName)}.queues`;
    // One that another transaction is noting is left to it, or to the next one here: nobody waits.
    const { rows } = await connection.query({
      text: `WITH noted AS (SELECT name FROM ${queues} WHERE name = ANY($1::text[])), made AS (
          INSERT INTO ${queues} (name) SELECT name FROM unnest($1::text[]) v (name)
          WHERE CASE WHEN name IN (SELECT name FROM noted) THEN false ELSE pg_try_advisory_xact_lock(hashtextextended($2 || name, 0)) END
          ON CONFLICT DO NOTHING RETURNING name)
        SELECT name FROM noted UNION ALL SELECT name FROM made`,
      values: [fresh, `${this.#options.schemaName} queue `],
    });
    return rows.map(({ name }) => String(name));
  }
}

/**
 * As Promise.all, but nothing is under way any more when it rejects: what follows would go out
 * behind the ROLLBACK, into a transaction of somebody else.
 */
async function allDone<T extends readonly unknown[]>(
  promises: [...T],
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/**
 * Sends COMMIT behind writes that are under way. One of them that fails fails the transaction, and
 * COMMIT keeps nothing.
 * @throws LostCommit when nobody has heard what became of it; what a write failed with
 */
async function commitWith<T>(
  transaction: OpenTransaction,
  writes: readonly Promise<unknown>[],
  marks: CommitMarks,
  result: T,
): Promise<T> {
  const [commit, ...sent] = await Promise.allSettled([transaction.commit(), ...writes]);
  const failed = sent.find((write) => write.status === 'rejected');
  if (failed !== undefined && !isOutage(failed.reason)) throw failed.reason;
  if (commit.status === 'fulfilled') return result;
  throw isOutage(commit.reason) && !isUnsent(commit.reason)
    ? new LostCommit(marks, result, commit.reason)
    : (failed?.reason ?? commit.reason);
}

const NO_JOBS: WrittenJobs = { placed: [], ids: [] };
