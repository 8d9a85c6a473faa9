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
import { JobWrites, type DueGroup, type WrittenJobs } from './jobs/jobWrites.ts';
import type { GroupLeases } from './jobs/groupLeases.ts';
import type { OpenSchema } from './schema/tables.ts';
import { allDone, sendWrites, type Written } from './writes.ts';

/** What a batch has committed. */
export interface Committed {
  readonly jobs: WrittenJobs;
  readonly xid: string;
  /** Groups whose lease existed already, or is being created by another process. */
  readonly alreadyLeased: readonly DueGroup[];
}

interface CommitterOptions extends OpenSchema {
  readonly time: Pick<DatabaseClock, 'estimate'>;
  readonly leases: Pick<GroupLeases, 'offerWithin'>;
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
   * @throws Error when nothing was kept; StoreUnavailable when nobody can say
   */
  async commit(batch: Batch, written: readonly Written[]): Promise<void> {
    const { transaction } = batch;
    const outcome = await this.#send(batch, written).finally(() => transaction.end());
    if (outcome.lost !== undefined) {
      const { database, schemaName } = this.#options;
      if (!(await wasCommitted(database, schemaName, outcome.marks))) throw outcome.lost;
    }
    this.#options.onCommitted(outcome.committed);
  }

  /** Sends what was written, and COMMIT in the same trip when no answer can change the outcome. */
  async #send({ transaction, xid: known }: Batch, written: readonly Written[]): Promise<Outcome> {
    await transaction.begin();
    const { connection } = transaction;
    const { changes, clock, time: databaseClock, nowSql, schemaName, leases } = this.#options;
    const time = { wall: clock.now().getTime(), database: databaseClock.estimate, sql: nowSql };
    const jobs = new JobWrites(this.#options.queues);
    for (const each of written) jobs.add(each.jobs);
    const marks = (xid: string) => ({ xid, life: changes.life, written: aDocumentOf(written) });
    if (known !== null && !jobs.needGroupLeases) {
      const writes = [sendWrites(connection, written), jobs.send(connection, schemaName, time)];
      const committed = { jobs: { added: [], ids: jobs.ids }, xid: known, alreadyLeased: [] };
      return commitWith(transaction, writes, marks(known), committed);
    }
    const added = jobs.added(time);
    const [, released, saved, ofAdded, xid] = await allDone([
      sendWrites(connection, written),
      jobs.send(connection, schemaName, time),
      this.#saveQueues(connection, added),
      leases.offerWithin(connection, added),
      known ?? readXid(connection),
    ]);
    const ofReleased = await leases.offerWithin(connection, released);
    const outcome = await commitWith(transaction, [], marks(xid), {
      jobs: { added: [...added, ...released], ids: jobs.ids },
      xid,
      alreadyLeased: [...ofAdded, ...ofReleased],
    });
    for (const queue of saved) this.#savedQueues.add(queue);
    return outcome;
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

/** A document by which the commit can be known; null when there is none. */
function aDocumentOf(written: readonly Written[]): CommitMarks['written'] {
  for (const { table, changed, added } of written.flatMap(({ tables }) => tables)) {
    const row = added[0] ?? changed[0];
    if (row !== undefined) return { table: table.name, id: row.id };
  }
  return null;
}

interface Outcome {
  readonly committed: Committed;
  readonly marks: CommitMarks;
  /** Why the answer to COMMIT did not come. */
  readonly lost?: Error;
}

/**
 * Sends COMMIT after writes that are under way. When one of them fails, COMMIT rolls back.
 * @throws what a write failed with
 */
async function commitWith(
  transaction: OpenTransaction,
  writes: readonly Promise<unknown>[],
  marks: CommitMarks,
  committed: Committed,
): Promise<Outcome> {
  const [commit, ...sent] = await Promise.allSettled([transaction.commit(), ...writes]);
  const failed = sent.find((write) => write.status === 'rejected');
  if (failed !== undefined && !isOutage(failed.reason)) throw failed.reason;
  if (commit.status === 'fulfilled') return { committed, marks };
  if (isOutage(commit.reason) && !isUnsent(commit.reason))
    return { committed, marks, lost: commit.reason as Error };
  throw failed?.reason ?? commit.reason;
}
