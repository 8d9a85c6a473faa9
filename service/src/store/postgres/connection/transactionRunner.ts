import { setTimeout as sleep } from 'node:timers/promises';
import type { Schema, Transaction } from '../../store.ts';
import { transactionMaker, type UnitOfWork } from '../../unitOfWork.ts';
import type { ChangeReader } from '../changeReader.ts';
import type { Connection } from './database.ts';
import {
  DocumentBusy,
  DocumentPlaces,
  documentSemaphore,
  PostgresUnitOfWork,
} from '../unitOfWork.ts';
import {
  isOutage,
  isWorthRepeating,
  isUniqueViolation,
  isUnsent,
  unavailable,
  uniqueViolation,
} from './errors.ts';
import type { DueGroup, WrittenJobs } from '../jobs/jobWrites.ts';
import type { GroupLeases } from '../jobs/groupLeases.ts';
import {
  LostCommit,
  wasCommitted,
  type CommitMarks,
  OpenTransaction,
  readXid,
} from './transaction.ts';
import type { Outage } from './outage.ts';
import { quoted } from './sql.ts';
import type { OpenSchema } from '../schema/tables.ts';
import type { DatabaseClock } from './databaseClock.ts';

/** How many times to run a transaction that conflicts with others. */
const MAX_RUNS = 50;
/** Another transaction may have taken a unique value first. The next run finds its document. */
const MAX_VIOLATIONS = 3;
/** The same as PostgreSQL's limit for waiting for a lock. */
const MAX_BUSY_MS = 15_000;

/** A committed transaction. */
export interface Committed<T> {
  readonly value: T;
  readonly jobs: WrittenJobs;
  /** Null when no document was written. */
  readonly xid: string | null;
  /** Groups whose lease existed already, or is being created by another process. */
  readonly alreadyLeased: readonly DueGroup[];
}

interface TransactionRunnerOptions<S extends Schema> extends OpenSchema {
  readonly schema: S;
  readonly time: Pick<DatabaseClock, 'estimate'>;
  readonly outage: Pick<Outage, 'watch'>;
  readonly leases: Pick<GroupLeases, 'offerWithin'>;
  readonly changes: Pick<ChangeReader<S>, 'life'>;
}

/**
 * Runs transactions in as few round trips as possible, and runs them again after a conflict or a
 * lost connection.
 * @see docs/decisions/0031-postgresql-group-leases.md
 */
export class TransactionRunner<S extends Schema> {
  readonly #options: TransactionRunnerOptions<S>;
  readonly #transactionOf: (work: UnitOfWork) => Transaction<S>;
  /** Queues that are known to be in the table of queues. */
  readonly #savedQueues = new Set<string>();
  readonly #documents = documentSemaphore();

  constructor(options: TransactionRunnerOptions<S>) {
    this.#options = options;
    this.#transactionOf = transactionMaker(options.schema);
  }

  /**
   * Runs a transaction until it commits.
   * @throws StoreUnavailable, UniqueViolation, what the function throws
   */
  async run<T>(fn: (tx: Transaction<S>) => Promise<T>): Promise<Committed<T>> {
    const places = new DocumentPlaces(this.#documents);
    const giveUpAt = performance.now() + MAX_BUSY_MS;
    for (let runs = 1, violations = 0; ; runs += 1) {
      try {
        return await this.#options.outage.watch(() =>
          this.#settleLostCommit(() => this.#runOnce(fn, places)),
        );
      } catch (error) {
        if (error instanceof DocumentBusy) {
          if (performance.now() > giveUpAt) throw tooManyWriters(error);
          await places.waitFor(error.key);
          runs -= 1;
          continue;
        }
        if (isUniqueViolation(error)) {
          violations += 1;
          if (violations >= MAX_VIOLATIONS) throw uniqueViolation(error);
        } else if (!isWorthRepeating(error)) throw error;
        if (runs >= MAX_RUNS) throw tooManyWriters(error);
        if (runs > 2) await sleep(Math.random() * 10 * Math.min(runs, 10));
      }
    }
  }

  /**
   * When the answer to COMMIT is lost with its connection, asks the server whether the commit
   * holds.
   */
  async #settleLostCommit<T>(run: () => Promise<Committed<T>>): Promise<Committed<T>> {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof LostCommit)) throw error;
      const { marks, result, cause } = error as LostCommit<Committed<T>>;
      if (await wasCommitted(this.#options.database, this.#options.schemaName, marks))
        return result;
      throw cause;
    }
  }

  async #runOnce<T>(
    fn: (tx: Transaction<S>) => Promise<T>,
    places: DocumentPlaces,
  ): Promise<Committed<T>> {
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
  ): Promise<Committed<T>> {
    const work = new PostgresUnitOfWork(
      transaction,
      this.#options.tables,
      this.#options.queues,
      places,
    );
    try {
      const value = await fn(this.#transactionOf(work));
      work.end();
      if (work.wrote) return await this.#commit(transaction, work, value);
      if (transaction.isBegun) await transaction.commit();
      return { value, jobs: NO_JOBS, xid: null, alreadyLeased: [] };
    } finally {
      work.end();
      await transaction.end();
    }
  }

  /** Sends what was written, and COMMIT in the same trip when no answer can change the outcome. */
  async #commit<T>(
    transaction: OpenTransaction,
    work: PostgresUnitOfWork,
    value: T,
  ): Promise<Committed<T>> {
    await transaction.begin();
    const { connection } = transaction;
    const { changes, clock, time: databaseClock, nowSql, schemaName, leases } = this.#options;
    const marks = (xid: string): CommitMarks => ({
      xid,
      life: changes.life,
      written: work.written,
    });
    const time = {
      wall: clock.now().getTime(),
      database: databaseClock.estimate,
      sql: nowSql,
    };
    if (work.xid !== null && work.cannotConflict && !work.jobs.needGroupLeases) {
      const jobs = { added: [], ids: work.jobs.ids };
      const committed = { value, jobs, xid: work.xid, alreadyLeased: [] };
      const writes = [work.send(), work.jobs.send(connection, schemaName, time)];
      return commitWith(transaction, writes, marks(work.xid), committed);
    }
    const added = work.jobs.added(time);
    const [, released, saved, ofAdded, xid] = await allDone([
      work.send(),
      work.jobs.send(connection, schemaName, time),
      this.#saveQueues(connection, added),
      leases.offerWithin(connection, added),
      work.xid ?? readXid(connection),
    ]);
    const ofReleased = await leases.offerWithin(connection, released);
    const committed = await commitWith(transaction, [], marks(xid), {
      value,
      jobs: { added: [...added, ...released], ids: work.jobs.ids },
      xid,
      alreadyLeased: [...ofAdded, ...ofReleased],
    });
    for (const queue of saved) this.#savedQueues.add(queue);
    return committed;
  }

  /** Saves the names of queues, so that an empty queue is counted too. @returns the saved ones */
  async #saveQueues(
    connection: Connection,
    added: readonly DueGroup[],
  ): Promise<readonly string[]> {
    const fresh = [...new Set(added.map(({ queue }) => queue))]
      .filter((queue) => !this.#savedQueues.has(queue))
      .sort();
    if (fresh.length === 0) return [];
    const queues = `${quoted(this.#options.schemaName)}.queues`;
    // Skips a queue that another transaction is saving, so that neither waits for the other.
    const { rows } = await connection.query({
      text: `WITH saved AS (SELECT name FROM ${queues} WHERE name = ANY($1::text[])), made AS (
          INSERT INTO ${queues} (name) SELECT name FROM unnest($1::text[]) v (name)
          WHERE CASE WHEN name IN (SELECT name FROM saved) THEN false ELSE pg_try_advisory_xact_lock(hashtextextended($2 || name, 0)) END
          ON CONFLICT DO NOTHING RETURNING name)
        SELECT name FROM saved UNION ALL SELECT name FROM made`,
      values: [fresh, `${this.#options.schemaName} queue `],
    });
    return rows.map(({ name }) => String(name));
  }
}

/**
 * Like Promise.all, but rejects only when all have settled: a statement that is sent after ROLLBACK
 * would run in another caller's transaction.
 */
async function allDone<T extends readonly unknown[]>(
  promises: [...T],
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/**
 * Sends COMMIT after writes that are under way. When one of them fails, COMMIT rolls back.
 * @throws LostCommit when the answer to COMMIT was lost; otherwise what a write failed with
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

const NO_JOBS: WrittenJobs = { added: [], ids: [] };

const tooManyWriters = (cause: unknown) =>
  unavailable('too many requests change the same documents at once; try again later', cause);
