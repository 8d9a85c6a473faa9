import { createHash, randomUUID } from 'node:crypto';
import type { Db, PgBoss } from 'pg-boss';
import type { Logger } from '../../clockAndLog.ts';
import { shareOf } from '../../store.ts';
import type { Connection, Database } from '../connection/database.ts';
import type { DueGroup } from './jobWrites.ts';
import { inWords, isOutage } from '../connection/errors.ts';
import { LeaseBalance, type Load } from './leaseBalance.ts';
import { earliestDue, fromText, lockNumber, quoted } from '../connection/sql.ts';
import { transactionOn } from '../connection/transaction.ts';

/** A group that this process alone serves, until it gives the lease back. */
export interface GroupLease {
  /** As stored in the table. */
  readonly group: string;
  readonly share: string;
  /** pg-boss's job, and the attempt that this process fetched. A new lease has another id. */
  readonly job: { readonly id: string; readonly retryCount: number };
  /** In steady milliseconds. */
  readonly heldSince: number;
  /** Jobs that this process has claimed and not finished. */
  readonly claimed: Set<string>;
  /** Fresh jobs claimed since the last retry, at most seven. */
  sinceRetry: number;
  /** A number that grows with each claim. The group with the lowest is served first. */
  servedAt: number;
  /** Since when nothing has been due, in steady milliseconds; null when something is. */
  emptySince: number | null;
}

/** A job of pg-boss that this process has fetched. */
interface Taken {
  readonly id: string;
  readonly retryCount: number;
  readonly data: { readonly group: string };
}

/** A process without a heartbeat for this long loses its leases. pg-boss allows ten or more. */
const HEARTBEAT_SECONDS = 15;
const BEAT_MS = 5_000;
/** How often dead processes are looked for. */
export const SUPERVISE_SECONDS = 5;
/** pg-boss ends a job that runs longer. Leases are given back long before. */
const EXPIRE_SECONDS = 3600;
/** After this time, a lease is offered to all processes again. */
const TENURE_MS = 30_000;
/** How long a lease with nothing due is kept, because the next job often comes at once. */
const LINGER_MS = 300;
const TIDY_MS = 100;
/** A timer fires up to this much early. Its lease is kept until the job is due. */
const TIMER_STEP_MS = 1_000;
/**
 * A distant timer fires early by up to this part of its wait and creates the next one, so that a
 * group has tens of timers, not one for each second of an hour.
 */
const TIMER_EARLY = 1 / 8;
/**
 * Group leases fetched at once. When there are several processes, each begins with a few and then
 * waits for a moment, so that the others get some too.
 */
const BATCH = 50;
const FIRST_BATCH = 2;
const YIELD_MS = 15;
/** How often processes tell each other how many groups they serve. */
const SHARE_MS = 1_000;
const FETCH_MS = 500;
/** How soon to retry leases that another process is creating or removing. */
const BUSY_MS = 50;
/**
 * The most locks that one of our transactions tries: the server has a few thousand for everyone.
 */
const MAX_LOCKS = 100;
const NEVER_DELETE_SECONDS = 10 * 365 * 24 * 3600;

interface GroupLeasesOptions {
  readonly database: Database;
  readonly boss: PgBoss;
  readonly schema: string;
  readonly workSchema: string;
  /** The database's clock in milliseconds. */
  readonly nowSql: string;
  /** False in tests that move the time. */
  readonly isRealTime: boolean;
  readonly log: Logger;
  /** Called when leases of a queue may be free. */
  readonly onFreed: (queue: string) => void;
  /** Tells the other processes. */
  readonly notify: (notification: { load?: Load; queues: readonly string[] }) => void;
}

/**
 * The group leases of this process: fetches them from pg-boss, keeps them, gives them back.
 * @see docs/decisions/0031-postgresql-group-leases.md
 */
export class GroupLeases {
  readonly #options: GroupLeasesOptions;
  readonly #held = new Map<string, Map<string, GroupLease>>();
  /** When to fetch from a queue again, in steady milliseconds. A missing entry means at once. */
  readonly #fetchAt = new Map<string, number>();
  /** How many leases to fetch next when other processes work too. Default: FIRST_BATCH. */
  readonly #batches = new Map<string, number>();
  readonly #balance = new LeaseBalance();
  /** In steady milliseconds. */
  #sharedAt = -Infinity;
  /** Queues whose work this process no longer takes. */
  readonly #left = new Set<string>();
  readonly #timers: NodeJS.Timeout[] = [];
  /** Groups to offer again, by key. */
  readonly #busy = new Map<string, DueGroup>();
  #retry: NodeJS.Timeout | undefined;
  #tidying: Promise<void> | null = null;

  constructor(options: GroupLeasesOptions) {
    this.#options = options;
  }

  /** Creates the queues that pg-boss does not have yet. */
  async createQueues(queues: readonly string[]): Promise<void> {
    const there = new Set((await this.#options.boss.getQueues()).map(({ name }) => name));
    // Exclusive: there is never a second job with the same key, waiting or fetched.
    const options = {
      policy: 'exclusive',
      retryLimit: 2_000_000_000,
      retryDelay: 0,
      retentionSeconds: NEVER_DELETE_SECONDS,
      expireInSeconds: EXPIRE_SECONDS,
    } as const;
    for (const queue of queues) {
      if (!there.has(queue))
        await this.#options.boss.createQueue(queue, {
          ...options,
          heartbeatSeconds: HEARTBEAT_SECONDS,
        });
      if (!there.has(timersOf(queue)))
        await this.#options.boss.createQueue(timersOf(queue), { ...options, expireInSeconds: 60 });
    }
    // pg-boss reads a queue's settings at its first use. That must not be inside a transaction, which
    // may hold the only connection.
    for (const queue of queues.flatMap((each) => [each, timersOf(each)]))
      await this.#options.boss.insert(queue, []);
  }

  /** Starts the heartbeat and gives empty leases back from time to time. */
  start(): void {
    this.#timers.push(
      setInterval(() => void this.#beat(), BEAT_MS).unref(),
      setInterval(() => void this.#tidy(), TIDY_MS).unref(),
    );
  }

  /** Gives all leases back. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#retry);
    await this.#tidying;
    if (this.#timers.length > 0) this.#options.notify({ load: null, queues: [] });
    for (const [queue, leases] of this.#held) {
      // If this fails, the leases end with the heartbeat.
      await this.#offerBack(queue, [...leases.values()]).catch(() => {});
    }
    this.#held.clear();
  }

  /** Gives a queue's leases to other processes at once, while jobs claimed here are finished. */
  async leave(queue: string): Promise<void> {
    this.#left.add(queue);
    await this.#offerBack(queue, this.of(queue)).catch(() => {}); // tried again at the stop
  }

  /** Takes a queue's work again. */
  join(queue: string): void {
    this.#left.delete(queue);
  }

  /** Notes the load that another process has sent. */
  hear(from: string, load: Load): void {
    this.#balance.hear(from, load);
  }

  of(queue: string): GroupLease[] {
    return [...(this.#held.get(queue)?.values() ?? [])];
  }

  /** There may be new leases. */
  hint(queue: string): void {
    this.#fetchAt.delete(queue);
  }

  /** A timer fires in `ms`; until then there is no need to fetch. */
  hintIn(queue: string, ms: number): void {
    const at = performance.now() + ms;
    if (at < (this.#fetchAt.get(queue) ?? 0)) this.#fetchAt.set(queue, at);
  }

  /** These jobs are no longer claimed. */
  forget(ids: readonly string[]): void {
    for (const leases of this.#held.values())
      for (const lease of leases.values()) for (const id of ids) lease.claimed.delete(id);
  }

  /** Fetches free leases when there may be any; all of them when no other process works. */
  async fetch(queue: string): Promise<void> {
    if (this.#left.has(queue)) return;
    const now = performance.now();
    if (this.#options.isRealTime && now < (this.#fetchAt.get(queue) ?? 0)) return;
    this.#fetchAt.set(queue, now + FETCH_MS);
    await this.#fireTimers(queue);
    let held = this.#held.get(queue);
    if (held === undefined) this.#held.set(queue, (held = new Map()));
    for (;;) {
      const batchSize =
        this.#balance.isAlone || !this.#options.isRealTime
          ? BATCH
          : (this.#batches.get(queue) ?? FIRST_BATCH);
      const jobs = await this.#take(queue, batchSize);
      for (const { id, retryCount, data } of jobs) {
        held.set(data.group, {
          group: data.group,
          share: shareOf(fromText(data.group)),
          job: { id, retryCount },
          heldSince: performance.now(),
          claimed: new Set(),
          sinceRetry: 0,
          servedAt: 0,
          emptySince: null,
        });
      }
      if (this.#left.has(queue)) return this.leave(queue);
      if (jobs.length < batchSize) return void this.#batches.delete(queue);
      if (batchSize === BATCH) continue;
      this.#batches.set(queue, Math.min(BATCH, 2 * batchSize));
      this.#lookIn(queue, YIELD_MS);
      return;
    }
  }

  /** @param queue pg-boss's, of leases or of timers */
  async #take(queue: string, batchSize: number): Promise<readonly Taken[]> {
    return (await this.#options.boss.fetch(queue, { batchSize })) as unknown as readonly Taken[];
  }

  /** Leaves free leases to others for a moment, then fetches again. */
  #lookIn(queue: string, ms: number): void {
    this.#fetchAt.set(queue, performance.now() + ms);
    setTimeout(() => {
      this.hint(queue);
      this.#options.onFreed(queue);
    }, ms).unref();
  }

  /**
   * Creates a lease for each group with a due job, and a timer for each whose job is due later.
   * Never waits: leases that another process is creating or removing are tried again soon.
   */
  async offer(due: readonly DueGroup[]): Promise<void> {
    const busy: DueGroup[] = [];
    for (const part of partsOf(due))
      busy.push(
        ...(await transactionOn(this.#options.database, (connection) =>
          this.#offerFree(connection, part),
        )),
      );
    for (const each of busy) this.#busy.set(entryOf(each).key, each);
    if (busy.length > 0) this.#retry ??= setTimeout(() => void this.#offerBusy(), BUSY_MS).unref();
  }

  /** Like `offer`, but a lease that is being removed counts as existing until the next call. */
  async offerMissing(due: readonly DueGroup[]): Promise<void> {
    for (const part of partsOf(due))
      await transactionOn(this.#options.database, (connection) =>
        this.offerWithin(connection, part),
      );
  }

  /**
   * Like `offer`, inside a transaction that holds documents. It must not wait: a transaction that
   * adds work to the same group may be stopped before its COMMIT.
   * @returns groups whose lease exists or is being created elsewhere, to be offered after the
   * commit
   */
  async offerWithin(
    connection: Connection,
    due: readonly DueGroup[],
  ): Promise<readonly DueGroup[]> {
    if (due.length === 0) return [];
    const entries = entriesOf(due);
    const { rows } = await connection.query({
      text: `SELECT v.key FROM unnest($1::text[], $2::text[], $3::bigint[]) v (key, name, lock)
        WHERE CASE WHEN EXISTS (SELECT 1 FROM ${quoted(this.#options.workSchema)}.job j WHERE j.name = v.name AND COALESCE(j.singleton_key, '') = v.key AND j.state <= 'active' AND j.policy = 'exclusive')
          THEN false ELSE pg_try_advisory_xact_lock(v.lock) END`,
      values: [
        entries.map(({ key }) => key),
        entries.map(({ queue }) => queue),
        entries.map((entry) => this.#lockOf(entry)),
      ],
      name: 'cs_leases_free',
    });
    const free = new Set(rows.map(({ key }) => key));
    const there = await this.#insert(
      entries.filter(({ key }) => free.has(key)),
      dbOf(connection),
    );
    return [...entries.filter(({ key }) => !free.has(key)).map((entry) => entry.due), ...there];
  }

  /** Like `offer`, in a store that is still empty. @returns groups that had a lease already */
  offerAlone(connection: Connection, due: readonly DueGroup[]): Promise<readonly DueGroup[]> {
    return this.#insert(entriesOf(due), dbOf(connection));
  }

  /** @returns groups whose lease another process is creating or removing */
  async #offerFree(connection: Connection, due: readonly DueGroup[]): Promise<readonly DueGroup[]> {
    const entries = entriesOf(due);
    const free = await this.#lock(connection, entries);
    await this.#insert(
      entries.filter(({ key }) => free.has(key)),
      dbOf(connection),
    );
    return entries.filter(({ key }) => !free.has(key)).map((entry) => entry.due);
  }

  async #offerBusy(): Promise<void> {
    this.#retry = undefined;
    const again = [...this.#busy.values()];
    this.#busy.clear();
    try {
      await this.offer(again);
      const queues = [
        ...new Set(
          again.filter((each) => !this.#busy.has(entryOf(each).key)).map(({ queue }) => queue),
        ),
      ];
      if (queues.length === 0) return;
      this.#options.notify({ queues });
      for (const queue of queues) {
        this.hint(queue);
        this.#options.onFreed(queue);
      }
    } catch {
      // The search for due jobs without a lease finds them.
    }
  }

  /**
   * Tries the locks without waiting. A process that creates or removes a lease holds its lock.
   * @returns the keys of the locks that it got
   */
  async #lock(
    connection: Connection,
    entries: readonly QueueEntry[],
  ): Promise<ReadonlySet<unknown>> {
    const { rows } = await connection.query({
      text: 'SELECT v.key FROM unnest($1::text[], $2::bigint[]) v (key, lock) WHERE pg_try_advisory_xact_lock(v.lock)',
      values: [entries.map(({ key }) => key), entries.map((entry) => this.#lockOf(entry))],
      name: 'cs_leases_lock',
    });
    return new Set(rows.map(({ key }) => key));
  }

  #lockOf({ key }: QueueEntry): string {
    return lockNumber(`${this.#options.schema} ${key}`);
  }

  /** @returns groups whose entry existed already */
  async #insert(entries: readonly QueueEntry[], db: Db): Promise<readonly DueGroup[]> {
    const there: DueGroup[] = [];
    for (const [queue, of] of Map.groupBy(entries, (entry) => entry.queue)) {
      const jobs = of.map((entry) => ({
        entry,
        job: {
          id: randomUUID(),
          singletonKey: entry.key,
          data: { group: entry.due.group },
          ...(entry.at !== null && { startAfter: new Date(entry.at).toISOString() }),
        },
      }));
      const made = new Set(
        await this.#options.boss.insert(
          queue,
          jobs.map(({ job }) => job),
          { db, returnId: true },
        ),
      );
      there.push(...jobs.flatMap(({ entry, job }) => (made.has(job.id) ? [] : [entry.due])));
    }
    return there;
  }

  async #fireTimers(queue: string): Promise<void> {
    for (;;) {
      const fired = await this.#take(timersOf(queue), BATCH);
      if (fired.length === 0) return;
      await this.offer(fired.map(({ data }) => ({ queue, group: data.group, dueAt: 0, now: 0 })));
      await this.#options.boss.deleteJob(timersOf(queue), [...fired]);
      if (fired.length < BATCH) return;
    }
  }

  async #beat(): Promise<void> {
    for (const [queue, leases] of this.#held) {
      const jobs = [...leases.values()];
      if (jobs.length === 0) continue;
      try {
        const { settled } = (await this.#options.boss.touch(
          queue,
          jobs.map(({ job }) => job),
        )) as { settled?: readonly string[] };
        if (settled === undefined) continue;
        const mine = new Set(settled);
        for (const lease of jobs)
          if (!mine.has(lease.job.id) && leases.get(lease.group) === lease)
            leases.delete(lease.group);
      } catch {
        // The store logs the outage. If it lasts, other processes take the leases.
      }
    }
  }

  async #tidy(): Promise<void> {
    if (this.#tidying !== null) return;
    this.#tidying = (async () => {
      const now = performance.now();
      for (const [queue, leases] of this.#held) {
        const all = [...leases.values()];
        const empty = all.filter(
          ({ claimed, emptySince }) =>
            claimed.size === 0 && emptySince !== null && now - emptySince > LINGER_MS,
        );
        const old = all.filter(
          (lease) => !empty.includes(lease) && now - lease.heldSince > TENURE_MS,
        );
        for (const part of partsOf(empty)) await this.#remove(queue, part);
        if (old.length > 0) await this.#offerBack(queue, old);
      }
      if (this.#options.isRealTime && now - this.#sharedAt >= SHARE_MS) await this.#share(now);
    })();
    try {
      await this.#tidying;
    } catch (error) {
      if (!isOutage(error))
        this.#options.log.warn(
          `group leases could not be given back; this is tried again: ${inWords(error)}`,
        );
    } finally {
      this.#tidying = null;
    }
  }

  /** Tells the others how many groups are served here, and gives back what exceeds a fair share. */
  async #share(now: number): Promise<void> {
    this.#sharedAt = now;
    const busy = new Map(
      [...this.#held.keys()].map(
        (queue) => [queue, this.of(queue).filter(({ emptySince }) => emptySince === null)] as const,
      ),
    );
    const counts = new Map([...busy].map(([queue, leases]) => [queue, leases.length]));
    const shared: string[] = [];
    for (const [queue, count] of this.#balance.surplus(counts)) {
      const leases = busy
        .get(queue)!
        .sort((a, b) => a.heldSince - b.heldSince)
        .slice(0, count);
      await this.#offerBack(queue, leases, { toOthers: true });
      shared.push(queue);
    }
    this.#options.notify({
      load: Object.fromEntries([...counts].filter(([, count]) => count > 0)),
      queues: shared,
    });
  }

  /** Makes leases free for every process, with or without due work. */
  async #offerBack(
    queue: string,
    leases: readonly GroupLease[],
    { toOthers = false }: { toOthers?: boolean } = {},
  ): Promise<void> {
    if (leases.length === 0) return;
    // One statement, so that no process can be stopped in the middle.
    await this.#options.boss.fail(
      queue,
      leases.map(({ job }) => job),
    );
    this.#drop(queue, leases);
    if (toOthers) return this.#lookIn(queue, FETCH_MS);
    this.hint(queue);
    this.#options.onFreed(queue);
  }

  /** Removes leases whose groups have nothing due. */
  async #remove(queue: string, leases: readonly GroupLease[]): Promise<void> {
    const { removed, busy } = await transactionOn(this.#options.database, async (connection) => {
      const free = await this.#lock(
        connection,
        leases.map((lease) => entryOfLease(queue, lease)),
      );
      const nextOf = await this.#nextOf(connection, queue, leases);
      // A lease whose next job is due in a moment is kept.
      const leaving = leases.filter(
        (lease) =>
          free.has(leaseKey(queue, lease.group)) &&
          lease.claimed.size === 0 &&
          nextOf.get(lease.group)!.dueAt > nextOf.get(lease.group)!.now + TIMER_STEP_MS + LINGER_MS,
      );
      if (leaving.length === 0) return { removed: [], busy: [] };
      await this.#options.boss.deleteJob(
        queue,
        leaving.map(({ job }) => job),
        { db: dbOf(connection) },
      );
      // Checked again, because a job may have been added while the lease was still there. From now
      // on, a transaction that adds one finds the lock taken and tries again.
      const left = await this.#nextOf(connection, queue, leaving);
      const next = leaving.flatMap(({ group }) => {
        const { dueAt, now } = left.get(group)!;
        return Number.isFinite(dueAt) ? [{ queue, group, dueAt, now }] : [];
      });
      return { removed: leaving, busy: await this.offerWithin(connection, next) };
    });
    this.#drop(queue, removed);
    await this.offer(busy);
  }

  #drop(queue: string, leases: readonly GroupLease[]): void {
    const held = this.#held.get(queue);
    for (const lease of leases) if (held?.get(lease.group) === lease) held.delete(lease.group);
  }

  /** When the groups' next jobs are due, by the database's clock; Infinity: there is none. */
  async #nextOf(
    connection: Connection,
    queue: string,
    leases: readonly GroupLease[],
  ): Promise<ReadonlyMap<string, { readonly now: number; readonly dueAt: number }>> {
    const { rows } = await connection.query({
      text: `SELECT g.group_key, (${this.#options.nowSql})::float8 AS now, (${earliestDue(`${quoted(this.#options.schema)}.jobs`, '$1', 'g.group_key')})::float8 AS due_at
        FROM unnest($2::text[]) g (group_key)`,
      values: [queue, leases.map(({ group }) => group)],
      name: 'cs_lease_next',
    });
    return new Map(
      rows.map(({ group_key, due_at, now }) => [
        String(group_key),
        { now: Number(now), dueAt: due_at === null ? Infinity : Number(due_at) },
      ]),
    );
  }
}

/** Runs pg-boss's statements on our connection, as part of its transaction. */
const dbOf = (connection: Connection): Db => ({
  executeSql: async (text, values) =>
    (await connection.query({
      text,
      ...(values && values.length > 0 ? { values } : {}),
    })) as unknown as { rows: unknown[] },
});

/** When the timer fires: never later than the job, and the same for jobs due at about that time. */
function timerAt({ dueAt, now }: DueGroup): number {
  const steps = Math.max(1, ((dueAt - now) * TIMER_EARLY) / TIMER_STEP_MS);
  const step = TIMER_STEP_MS * 2 ** Math.floor(Math.log2(steps));
  return Math.floor(dueAt / step) * step;
}

export const timersOf = (queue: string): string => `${queue}.timers`;

/** pg-boss's job for a lease, or for a timer that becomes one. */
interface QueueEntry {
  /**
   * The same for the same group, so that there is never a second lease. A timer's key has its time
   * too.
   */
  readonly key: string;
  /** pg-boss's. */
  readonly queue: string;
  /** A timer's time; null for a lease. */
  readonly at: number | null;
  readonly due: DueGroup;
}

const entryOf = (due: DueGroup): QueueEntry => {
  const at = timerAt(due);
  return at <= due.now
    ? { key: leaseKey(due.queue, due.group), queue: due.queue, at: null, due }
    : { key: leaseKey(due.queue, due.group, at), queue: timersOf(due.queue), at, due };
};

/** The entries of these groups, without duplicates. */
const entriesOf = (due: readonly DueGroup[]): readonly QueueEntry[] => [
  ...new Map(due.map((each) => entryOf(each)).map((entry) => [entry.key, entry])).values(),
];

const entryOfLease = (queue: string, { group }: GroupLease): QueueEntry =>
  entryOf({ queue, group, dueAt: 0, now: 0 });

const leaseKey = (queue: string, group: string, at?: number): string =>
  createHash('sha256')
    .update(JSON.stringify([queue, group, at ?? null]))
    .digest('hex');

function* partsOf<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += MAX_LOCKS) yield all.slice(at, at + MAX_LOCKS);
}
