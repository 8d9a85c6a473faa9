import { setTimeout as sleep } from 'node:timers/promises';
import { KeyedSemaphore } from '../../../platform/async/semaphore.ts';
import type { Schema, Transaction } from '../../store.ts';
import { transactionMaker, type UnitOfWork } from '../../unitOfWork.ts';
import { LockedElsewhere, RunsAlone } from '../batch.ts';
import type { Batches } from '../batches.ts';
import { Reads } from '../reads.ts';
import type { OpenSchema } from '../schema/tables.ts';
import { DocumentBusy, DocumentPlaces, PostgresUnitOfWork } from '../unitOfWork.ts';
import { runAllOn, runOn } from './database.ts';
import { isUniqueViolation, isWorthRepeating, unavailable, uniqueViolation } from './errors.ts';
import type { Outage } from './outage.ts';

/** After this many conflicts with others, a transaction is given up. */
const MAX_CONFLICTS = 50;
/** Another transaction may have taken a unique value first. The next run finds its document. */
const MAX_VIOLATIONS = 3;
/** The same as the `lock_timeout` of our connections. */
const MAX_BUSY_MS = 15_000;
/** How many more batches to try before waiting for a document that another connection locks. */
const MAX_MORE_TRIES = 2;
/** The longest pause before trying again to run alone, when too many do. */
const MAX_PAUSE_MS = 25;

interface TransactionRunnerOptions<S extends Schema>
  extends Pick<OpenSchema, 'database' | 'tables' | 'queues'> {
  readonly schema: S;
  readonly outage: Pick<Outage, 'watch'>;
  readonly batches: Batches;
}

/**
 * Runs transactions in batches, and again after a conflict or a lost connection.
 * @see docs/decisions/0051-transactions-in-batches.md
 */
export class TransactionRunner<S extends Schema> {
  readonly #options: TransactionRunnerOptions<S>;
  readonly #transactionOf: (work: UnitOfWork) => Transaction<S>;
  /** Reads before the first lock. */
  readonly #reads: Reads;
  readonly #documents = new KeyedSemaphore(1);

  constructor(options: TransactionRunnerOptions<S>) {
    this.#options = options;
    this.#transactionOf = transactionMaker(options.schema);
    this.#reads = new Reads({
      run: (statements) => runAllOn(options.database, statements),
      maxRunning: 1,
    });
  }

  /**
   * Runs a transaction until it commits.
   * @throws StoreUnavailable, UniqueViolation, what the function throws
   */
  async run<T>(fn: (tx: Transaction<S>) => Promise<T>): Promise<T> {
    const giveUpAt = performance.now() + MAX_BUSY_MS;
    /** The places that the next run holds from its beginning. */
    let places = new DocumentPlaces(this.#documents);
    /**
     * Each run waits for all documents that were ever busy. If it waited for the last one only,
     * two transactions that want the same two documents could take turns and never get both.
     */
    const busy = new Set<string>();
    let isAlone = false;
    let lockedElsewhere = 0;
    let violations = 0;
    let conflicts = 0;
    for (;;) {
      try {
        return await this.#options.outage.watch(() => {
          const held = places;
          places = new DocumentPlaces(this.#documents);
          return this.#runOnce(fn, held, isAlone);
        });
      } catch (error) {
        if (error instanceof RunsAlone || error instanceof DocumentBusy) {
          if (performance.now() > giveUpAt) throw tooManyWriters(error);
          if (error instanceof DocumentBusy) await places.waitFor(busy.add(error.key));
          else if (isAlone) await sleep(Math.random() * MAX_PAUSE_MS);
          else if (error instanceof LockedElsewhere) {
            lockedElsewhere += 1;
            isAlone = lockedElsewhere > MAX_MORE_TRIES;
          } else isAlone = true;
          continue;
        }
        if (isUniqueViolation(error)) {
          violations += 1;
          if (violations >= MAX_VIOLATIONS) throw uniqueViolation(error);
        } else if (!isWorthRepeating(error)) throw error;
        conflicts += 1;
        if (conflicts >= MAX_CONFLICTS) throw tooManyWriters(error);
        if (conflicts > 2) await sleep(Math.random() * 10 * Math.min(conflicts, 10));
      }
    }
  }

  async #runOnce<T>(
    fn: (tx: Transaction<S>) => Promise<T>,
    places: DocumentPlaces,
    isAlone: boolean,
  ): Promise<T> {
    const { database, tables, queues, batches } = this.#options;
    const work = new PostgresUnitOfWork({
      tables,
      queues,
      places,
      reads: this.#reads,
      search: (statement) => runOn(database, statement),
      join: () => (isAlone ? batches.alone() : batches.join()),
    });
    try {
      const value = await fn(this.#transactionOf(work));
      await work.commit();
      return value;
    } finally {
      work.abandon();
    }
  }
}

const tooManyWriters = (cause: unknown) =>
  unavailable('too many requests change the same documents at once; try again later', cause);
