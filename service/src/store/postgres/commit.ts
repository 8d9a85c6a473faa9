import type { Schema } from '../store.ts';
import type { Batch } from './batch.ts';
import type { ChangeReader } from './changeReader.ts';
import type { Connection } from './connection/database.ts';
import type { DatabaseClock } from './connection/databaseClock.ts';
import { isOutage, isUnsent } from './connection/errors.ts';
import { quoted } from './connection/sql.ts';
import {
  readXid,
  wasCommitted,
  type CommitMarks,
  type OpenTransaction,
} from './connection/transaction.ts';
import { JobWrites, type DueGroup } from './jobs/jobWrites.ts';
import type { OpenSchema } from './schema/tables.ts';
import { allDone, sendWrites, type Written } from './writes.ts';

/** What a batch has committed. */
export interface Committed {
  readonly xid: string;
  /** The groups of jobs that were added or released. */
  readonly added: readonly DueGroup[];
}

interface CommitterOptions extends OpenSchema {
  readonly time: Pick<DatabaseClock, 'estimate'>;
  readonly changes: Pick<ChangeReader<Schema>, 'life'>;
  readonly onCommitted: (committed: Committed) => void;
}

/** Writes what the members of a batch put, and commits. */
export class Committer {
  readonly #options: CommitterOptions;
  /** Queues that are known to be in the table of queues. */
  readonly #savedQueues = new Set<string>();

  constructor(options: CommitterOptions) {
    this.#options = options;
  }

  /**
   * When the answer to COMMIT is lost with its connection, asks the server whether the commit
   * holds.
   * @throws Error when nothing was kept; StoreUnavailable when it cannot be known
   */
  async commit(batch: Batch, written: readonly Written[]): Promise<void> {
    const { transaction } = batch;
    const { marks, added, saved, lost } = await this.#send(batch, written).finally(() =>
      transaction.end(),
    );
    if (lost !== undefined) {
      const { database, schemaName } = this.#options;
      if (!(await wasCommitted(database, schemaName, marks))) throw lost;
    }
    for (const queue of saved) this.#savedQueues.add(queue);
    this.#options.onCommitted({ xid: marks.xid, added });
  }

  /** Sends what was written, and COMMIT in the same trip when the transaction's id is known. */
  async #send({ transaction, xid: known }: Batch, written: readonly Written[]): Promise<Outcome> {
    await transaction.begin();
    const { connection } = transaction;
    const { changes, clock, time: databaseClock, nowSql, schemaName } = this.#options;
    const time = { wall: clock.now().getTime(), database: databaseClock.estimate, sql: nowSql };
    const jobs = new JobWrites(this.#options.queues);
    for (const each of written) jobs.add(each.jobs);
    const added = jobs.enqueuedGroups(time);
    const writes = allDone([
      sendWrites(connection, written),
      jobs.send(connection, schemaName, time),
      this.#saveQueues(connection, added),
    ]);
    const xid = known ?? (await allDone([writes, readXid(connection)]))[1];
    const lost = await commitWith(transaction, writes);
    // The released groups are unknown if the connection was lost: the store finds them by itself.
    const [, released, saved] = await writes.catch(() => [null, [], []] as const);
    const marks = { xid, life: changes.life, written: firstDocument(written) };
    return { marks, added: [...added, ...released], saved, lost };
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

/** A document by which to tell later whether the commit holds; null when there is none. */
function firstDocument(written: readonly Written[]): CommitMarks['written'] {
  for (const { table, changed, added } of written.flatMap(({ tables }) => tables)) {
    const row = added[0] ?? changed[0];
    if (row !== undefined) return { table: table.name, id: row.id };
  }
  return null;
}

interface Outcome {
  readonly marks: CommitMarks;
  readonly added: readonly DueGroup[];
  /** The queues that are in the table of queues once this is committed. */
  readonly saved: readonly string[];
  /** Why the answer to COMMIT did not come. */
  readonly lost: Error | undefined;
}

/**
 * Sends COMMIT after writes that are under way. When one of them fails, COMMIT rolls back.
 * @returns why the answer to COMMIT did not come; undefined when it came
 * @throws what a write failed with
 */
async function commitWith(
  transaction: OpenTransaction,
  writes: Promise<unknown>,
): Promise<Error | undefined> {
  const [commit, sent] = await Promise.allSettled([transaction.commit(), writes]);
  if (sent.status === 'rejected' && !isOutage(sent.reason)) throw sent.reason;
  if (commit.status === 'fulfilled') return undefined;
  if (isOutage(commit.reason) && !isUnsent(commit.reason)) return commit.reason as Error;
  throw sent.status === 'rejected' ? sent.reason : commit.reason;
}
