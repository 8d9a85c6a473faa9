import { assertJobTime } from '../../document.ts';
import type { Job, TransactionJobs } from '../../store.ts';
import type { Connection, Statement } from '../connection/database.ts';
import { quoted, toText } from '../connection/sql.ts';

type Write =
  | { readonly type: 'put'; readonly job: Job }
  | { readonly type: 'release'; readonly runAt: number; readonly rank: number }
  | { readonly type: 'remove' };

/** A group with a job, and when that job is due, in milliseconds by the database's clock. */
export interface DueGroup {
  readonly queue: string;
  /** As stored in the table. */
  readonly group: string;
  readonly dueAt: number;
}

const dueGroupOf = ({ queue, group_key, due_at }: Record<string, unknown>): DueGroup => ({
  queue: String(queue),
  group: String(group_key),
  dueAt: Number(due_at),
});

/** The clocks by which a job's wait is computed, in milliseconds since the epoch. */
export interface JobTime {
  /** The caller's. It decides how long a job waits. */
  readonly wall: number;
  /** The database's, as this process estimates it. */
  readonly database: number;
  /** The database's, as SQL. */
  readonly sql: string;
}

/**
 * The jobs that a transaction changes, written when it ends: one write for each job. In the same
 * transaction, a release changes the time of an enqueued job and does nothing to a completed one.
 */
export class JobWrites implements TransactionJobs {
  readonly #writes = new Map<string, Write>();
  readonly #queues: ReadonlySet<string>;

  constructor(queues: ReadonlySet<string>) {
    this.#queues = queues;
  }

  get isEmpty(): boolean {
    return this.#writes.size === 0;
  }

  /** Adds what another transaction has changed after this one. */
  add(later: JobWrites): void {
    for (const [id, write] of later.#writes) {
      if (write.type === 'release') this.#release(id, write);
      else this.#writes.set(id, write);
    }
  }

  async enqueue(job: Job): Promise<void> {
    assertJobTime(job.id, job);
    if (!this.#queues.has(job.queue))
      throw new TypeError(
        `job ${job.id}: there is no queue ${job.queue}; name it when the store is opened`,
      );
    this.#writes.set(job.id, { type: 'put', job });
  }

  async complete(id: string): Promise<void> {
    this.#writes.set(id, { type: 'remove' });
  }

  async release(id: string, at: { runAt: number; rank: number }): Promise<void> {
    assertJobTime(id, at);
    this.#release(id, at);
  }

  #release(id: string, { runAt, rank }: { runAt: number; rank: number }): void {
    const earlier = this.#writes.get(id);
    if (earlier?.type === 'remove') return;
    this.#writes.set(
      id,
      earlier?.type === 'put'
        ? { type: 'put', job: { ...earlier.job, runAt, rank } }
        : { type: 'release', runAt, rank },
    );
  }

  /** The groups of enqueued jobs, and when those are due. */
  enqueuedGroups({ wall, database }: JobTime): readonly DueGroup[] {
    return [...this.#writes.values()].flatMap((write) =>
      write.type === 'put'
        ? [
            {
              queue: write.job.queue,
              group: toText(write.job.group),
              dueAt: database + write.job.runAt - wall,
            },
          ]
        : [],
    );
  }

  /**
   * Sends all statements at once, without waiting for answers in between.
   * @returns the groups of released jobs, from the database
   */
  async send(
    connection: Connection,
    schema: string,
    { wall, sql }: JobTime,
  ): Promise<readonly DueGroup[]> {
    if (this.isEmpty) return [];
    const jobs = `${quoted(schema)}.jobs`;
    const entries = [...this.#writes];
    const removed = entries.flatMap(([id, { type }]) => (type === 'remove' ? [toText(id)] : []));
    const put = entries.flatMap(([, write]) => (write.type === 'put' ? [write.job] : []));
    const released = entries.flatMap(([id, write]) =>
      write.type === 'release' ? [{ id, ...write }] : [],
    );
    const query = (statement: Statement) => connection.query(statement);
    const [, , answer] = await Promise.all([
      removed.length > 0 ? query(removeJobs(jobs, removed)) : null,
      put.length > 0 ? query(replaceJobs(jobs, put, { wall, sql })) : null,
      released.length > 0 ? query(releaseJobs(jobs, released, { wall, sql })) : null,
    ]);
    return (answer?.rows ?? []).map(dueGroupOf);
  }
}

const removeJobs = (table: string, ids: readonly string[]): Statement => ({
  text: `DELETE FROM ${table} WHERE id = ANY($1::text[])`,
  values: [ids],
  name: 'cs_jobs_remove',
});

const releaseJobs = (
  table: string,
  released: readonly Pick<Job, 'id' | 'runAt' | 'rank'>[],
  { wall, sql }: Pick<JobTime, 'wall' | 'sql'>,
): Statement => ({
  // A subquery instead of UPDATE … FROM: a plan made for a join while the table was empty would read
  // all of it.
  text: `UPDATE ${table} j SET claimed_by = NULL, seq = nextval(pg_get_serial_sequence('${table}', 'seq')), (run_at, rank, due_at) = (
      SELECT v.run_at, v.rank, (${sql}) + v.wait::bigint FROM unnest($1::text[], $2::float8[], $3::int[], $4::float8[]) v (id, run_at, rank, wait) WHERE v.id = j.id)
    WHERE j.id = ANY($1::text[])
    RETURNING j.queue, j.group_key, j.due_at::float8 AS due_at`,
  values: [
    released.map(({ id }) => toText(id)),
    released.map(({ runAt }) => runAt),
    released.map(({ rank }) => rank),
    released.map(({ runAt }) => Math.round(runAt - wall)),
  ],
  name: 'cs_jobs_release',
});

const REPLACE_JOB = `ON CONFLICT (id) DO UPDATE SET queue = excluded.queue, group_key = excluded.group_key, run_at = excluded.run_at, rank = excluded.rank,
  data = excluded.data, due_at = excluded.due_at, seq = excluded.seq, claimed_by = NULL`;

const replaceJobs = (
  table: string,
  jobs: readonly Job[],
  time: Pick<JobTime, 'wall' | 'sql'>,
): Statement => ({ ...insertJobs(table, jobs, time, REPLACE_JOB), name: 'cs_jobs_put' });

/** @param onConflict what to do with a job whose id exists already. Default: an error. */
export const insertJobs = (
  table: string,
  jobs: readonly Job[],
  { wall, sql }: Pick<JobTime, 'wall' | 'sql'>,
  onConflict = '',
): Statement => ({
  text: `INSERT INTO ${table} (id, queue, group_key, run_at, rank, data, due_at)
    SELECT v.id, v.queue, v.group_key, v.run_at, v.rank, v.data::json, (${sql}) + v.wait::bigint
    FROM unnest($1::text[], $2::text[], $3::text[], $4::float8[], $5::int[], $6::text[], $7::float8[]) v (id, queue, group_key, run_at, rank, data, wait)
    ${onConflict}`,
  values: [
    jobs.map(({ id }) => toText(id)),
    jobs.map(({ queue }) => queue),
    jobs.map(({ group }) => toText(group)),
    jobs.map(({ runAt }) => runAt),
    jobs.map(({ rank }) => rank),
    jobs.map(({ data }) => JSON.stringify(data)),
    jobs.map(({ runAt }) => Math.round(runAt - wall)),
  ],
});
