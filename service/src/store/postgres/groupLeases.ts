import { createHash, randomUUID } from 'node:crypto';
import type { Db, PgBoss } from 'pg-boss';
import type { Logger } from '../options.ts';
import { shareOf } from '../store.ts';
import type { Connection, Database } from './database.ts';
import type { DueGroup } from './jobWrites.ts';
import { inWords, isOutage } from './errors.ts';
import { LeaseBalance, type Load } from './leaseBalance.ts';
import { earliestDue, fromText, lockNumber, quoted } from './sql.ts';
import { transactionOn } from './transaction.ts';

/** A group of a queue that this process serves alone until it gives it back. */
export interface GroupLease {
  /** As the table has it. */
  readonly group: string;
  readonly share: string;
  /**
   * pg-boss's job, with the attempt that this process fetched: another making of the same lease has
   * another id.
   */
  readonly job: { readonly id: string; readonly retryCount: number };
  /** In steady milliseconds. */
  readonly heldSince: number;
  /** Jobs that this process has claimed and not ended. */
  readonly claimed: Set<string>;
  /** Fresh jobs claimed since the last retry was, at most seven. */
  sinceRetry: number;
  /** Counts up with each claim: who was served longest ago comes first. */
  servedAt: number;
  /** Since when nothing was due, in steady milliseconds; null: something was. */
  emptySince: number | null;
}

/** A job of pg-boss that this process has fetched. */
interface Taken {
  readonly id: string;
  readonly retryCount: number;
  readonly data: { readonly group: string };
}

/**
 * A process that has not said for so long that it lives loses its leases. pg-boss's least is ten.
 */
export const HEARTBEAT_SECONDS = 15;
const BEAT_MS = 5_000;
/** How often dead processes are looked for. */
export const SUPERVISE_SECONDS = 5;
/** pg-boss ends a job that runs longer; leases are given back long before. */
const EXPIRE_SECONDS = 3600;
/** After so long a lease is offered to all again. */
const TENURE_MS = 30_000;
/** A lease with nothing due is kept so long: the next job often comes at once. */
const LINGER_MS = 300;
const TIDY_MS = 100;
/** A timer fires up to this much early; its lease is kept until the job is due. */
const TIMER_STEP_MS = 1_000;
/**
 * One that is far off fires early by up to this part of its wait, and makes the next one: a group
 * has tens of timers, not one for each second of an hour.
 */
const TIMER_EARLY = 1 / 8;
/**
 * Group leases fetched at once. Of several processes each begins with a few, then waits for a moment: the
 * others want some too.
 */
const BATCH = 50;
const FIRST_BATCH = 2;
const YIELD_MS = 15;
/** How often the processes tell each other how much they serve. */
const SHARE_MS = 1_000;
const FETCH_MS = 500;
/** Group leases that are being made or removed elsewhere are tried again after so long. */
const BUSY_MS = 50;
/**
 * Locks that one transaction of ours tries at most: the server has room for some thousands, for
 * all.
 */
const MAX_LOCKS = 100;
const NEVER_DELETE_SECONDS = 10 * 365 * 24 * 3600;

/**
 * The leases of this process: fetches them from pg-boss, keeps them, gives them back.
 * @see docs/decisions/0031
 */
export class GroupLeases {
  readonly #database: Database;
  readonly #boss: PgBoss;
  readonly #schema: string;
  readonly #workSchema: string;
  readonly #nowSql: string;
  readonly #log: Logger;
  readonly #held = new Map<string, Map<string, GroupLease>>();
  /** When a queue is to be fetched from again, in steady milliseconds; missing: at once. */
  readonly #fetchAt = new Map<string, number>();
  /** How many leases are fetched next, where others work too; missing: the first few. */
  readonly #batches = new Map<string, number>();
  readonly #balance = new LeaseBalance();
  /** In steady milliseconds. */
  #sharedAt = -Infinity;
  /** Queues that are worked no more here. */
  readonly #left = new Set<string>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #isRealTime: boolean;
  readonly #onFreed: (queue: string) => void;
  readonly #tell: (news: { load?: Load; queues: readonly string[] }) => void;
  /** To be offered again, by key. */
  readonly #busy = new Map<string, DueGroup>();
  #retry: NodeJS.Timeout | undefined;
  #tidying: Promise<void> | null = null;

  constructor(options: {
    database: Database;
    boss: PgBoss;
    schema: string;
    workSchema: string;
    nowSql: string;
    isRealTime: boolean;
    log: Logger;
    onFreed: (queue: string) => void;
    tell: (news: { load?: Load; queues: readonly string[] }) => void;
  }) {
    this.#database = options.database;
    this.#boss = options.boss;
    this.#schema = options.schema;
    this.#workSchema = options.workSchema;
    this.#nowSql = options.nowSql;
    this.#isRealTime = options.isRealTime;
    this.#log = options.log;
    this.#onFreed = options.onFreed;
    this.#tell = options.tell;
  }

  /** Makes what is missing of pg-boss's queues. */
  async createQueues(queues: readonly string[]): Promise<void> {
    const there = new Set((await this.#boss.getQueues()).map(({ name }) => name));
    // Exclusive: never a second job of a key, waiting or fetched.
    const options = {
      policy: 'exclusive',
      retryLimit: 2_000_000_000,
      retryDelay: 0,
      retentionSeconds: NEVER_DELETE_SECONDS,
      expireInSeconds: EXPIRE_SECONDS,
    } as const;
    for (const queue of queues) {
      if (!there.has(queue))
        await this.#boss.createQueue(queue, { ...options, heartbeatSeconds: HEARTBEAT_SECONDS });
      if (!there.has(timersOf(queue)))
        await this.#boss.createQueue(timersOf(queue), { ...options, expireInSeconds: 60 });
    }
    // pg-boss keeps what it knows of a queue from its first use: not inside of a transaction, which
    // may hold the only connection.
    for (const queue of queues.flatMap((each) => [each, timersOf(each)]))
      await this.#boss.insert(queue, []);
  }

  /** Begins to say that this process lives, and to give back what is empty. */
  start(): void {
    this.#timers.push(
      setInterval(() => void this.#beat(), BEAT_MS).unref(),
      setInterval(() => void this.#tidy(), TIDY_MS).unref(),
    );
  }

  /** Gives everything back. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#retry);
    await this.#tidying;
    if (this.#timers.length > 0) this.#tell({ load: null, queues: [] });
    for (const [queue, leases] of this.#held) {
      // pg-boss's heartbeat takes them back
      await this.#offerBack(queue, [...leases.values()]).catch(() => {});
    }
    this.#held.clear();
  }

  /**
   * Nobody here takes more of this queue's work: others get its leases at once, while what was
   * claimed here comes to its end.
   */
  async leave(queue: string): Promise<void> {
    this.#left.add(queue);
    await this.#offerBack(queue, this.of(queue)).catch(() => {}); // at the stop once more
  }

  /** Somebody here takes this queue's work. */
  join(queue: string): void {
    this.#left.delete(queue);
  }

  /** What another process said of itself. */
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

  /** Nobody needs to look before a timer fires, in `ms`. */
  hintIn(queue: string, ms: number): void {
    const at = performance.now() + ms;
    if (at < (this.#fetchAt.get(queue) ?? 0)) this.#fetchAt.set(queue, at);
  }

  /** These jobs are claimed no more. */
  forget(ids: readonly string[]): void {
    for (const leases of this.#held.values())
      for (const lease of leases.values()) for (const id of ids) lease.claimed.delete(id);
  }

  /**
   * Takes leases that nobody serves, when there may be any: all of them when no other process works.
   */
  async fetch(queue: string): Promise<void> {
    if (this.#left.has(queue)) return;
    const now = performance.now();
    if (this.#isRealTime && now < (this.#fetchAt.get(queue) ?? 0)) return;
    this.#fetchAt.set(queue, now + FETCH_MS);
    await this.#fireTimers(queue);
    let held = this.#held.get(queue);
    if (held === undefined) this.#held.set(queue, (held = new Map()));
    for (;;) {
      const batchSize =
        this.#balance.isAlone || !this.#isRealTime
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
    return (await this.#boss.fetch(queue, { batchSize })) as unknown as readonly Taken[];
  }

  /** Leaves what there is to others for a moment, then looks again. */
  #lookIn(queue: string, ms: number): void {
    this.#fetchAt.set(queue, performance.now() + ms);
    setTimeout(() => {
      this.hint(queue);
      this.#onFreed(queue);
    }, ms).unref();
  }

  /**
   * Makes sure that placed jobs will be served: a lease for each group with due ones, timers for
   * when others are due. It waits for nobody: what another process is just making or removing is
   * tried again soon.
   */
  async offer(placed: readonly DueGroup[]): Promise<void> {
    const busy: DueGroup[] = [];
    for (const part of partsOf(placed))
      busy.push(
        ...(await transactionOn(this.#database, (connection) => this.#offerFree(connection, part))),
      );
    for (const each of busy) this.#busy.set(entryOf(each).key, each);
    if (busy.length > 0) this.#retry ??= setTimeout(() => void this.#offerBusy(), BUSY_MS).unref();
  }

  /**
   * The same for those that have none, at a glance: one that is just being removed counts as there,
   * and the next look finds it gone.
   */
  async offerMissing(placed: readonly DueGroup[]): Promise<void> {
    for (const part of partsOf(placed))
      await transactionOn(this.#database, (connection) => this.offerWithin(connection, part));
  }

  /**
   * The same inside of a transaction that holds documents, and without ever waiting: two that add
   * work of one group would else wait for each other, for as long as the one that came first is
   * stopped before its commit.
   * @returns what was there already, or is just being made by another transaction: to be offered
   * again after the commit
   */
  async offerWithin(
    connection: Connection,
    placed: readonly DueGroup[],
  ): Promise<readonly DueGroup[]> {
    if (placed.length === 0) return [];
    const entries = entriesOf(placed);
    const { rows } = await connection.query({
      text: `SELECT v.key FROM unnest($1::text[], $2::text[], $3::bigint[]) v (key, name, lock)
        WHERE CASE WHEN EXISTS (SELECT 1 FROM ${quoted(this.#workSchema)}.job j WHERE j.name = v.name AND COALESCE(j.singleton_key, '') = v.key AND j.state <= 'active' AND j.policy = 'exclusive')
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
    return [...entries.filter(({ key }) => !free.has(key)).map((entry) => entry.placed), ...there];
  }

  /** The same in a store that holds nothing yet. @returns what was there already */
  offerAlone(connection: Connection, placed: readonly DueGroup[]): Promise<readonly DueGroup[]> {
    return this.#insert(entriesOf(placed), dbOf(connection));
  }

  /**
   * @returns those that another process is just making or removing; whoever has the lock knows that
   * the others are there, and stay until whoever removes them has looked for jobs
   */
  async #offerFree(
    connection: Connection,
    placed: readonly DueGroup[],
  ): Promise<readonly DueGroup[]> {
    const entries = entriesOf(placed);
    const free = await this.#lock(connection, entries);
    await this.#insert(
      entries.filter(({ key }) => free.has(key)),
      dbOf(connection),
    );
    return entries.filter(({ key }) => !free.has(key)).map((entry) => entry.placed);
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
      this.#tell({ queues });
      for (const queue of queues) {
        this.hint(queue);
        this.#onFreed(queue);
      }
    } catch {
      // Found by whoever looks for due jobs without a lease.
    }
  }

  /**
   * Locks that are tried, never waited for: whoever makes or removes a lease has its lock. @returns
   * the keys of those got
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
    return lockNumber(`${this.#schema} ${key}`);
  }

  /** @returns what was there already */
  async #insert(entries: readonly QueueEntry[], db: Db): Promise<readonly DueGroup[]> {
    const there: DueGroup[] = [];
    for (const [queue, of] of Map.groupBy(entries, (entry) => entry.queue)) {
      const jobs = of.map((entry) => ({
        entry,
        job: {
          id: randomUUID(),
          singletonKey: entry.key,
          data: { group: entry.placed.group },
          ...(entry.at !== null && { startAfter: new Date(entry.at).toISOString() }),
        },
      }));
      const made = new Set(
        await this.#boss.insert(
          queue,
          jobs.map(({ job }) => job),
          { db, returnId: true },
        ),
      );
      there.push(...jobs.flatMap(({ entry, job }) => (made.has(job.id) ? [] : [entry.placed])));
    }
    return there;
  }

  async #fireTimers(queue: string): Promise<void> {
    for (;;) {
      const fired = await this.#take(timersOf(queue), BATCH);
      if (fired.length === 0) return;
      await this.offer(fired.map(({ data }) => ({ queue, group: data.group, dueAt: 0, now: 0 })));
      await this.#boss.deleteJob(timersOf(queue), [...fired]);
      if (fired.length < BATCH) return;
    }
  }

  async #beat(): Promise<void> {
    for (const [queue, leases] of this.#held) {
      const jobs = [...leases.values()];
      if (jobs.length === 0) continue;
      try {
        const { settled } = (await this.#boss.touch(
          queue,
          jobs.map(({ job }) => job),
        )) as { settled?: readonly string[] };
        if (settled === undefined) continue;
        const mine = new Set(settled);
        for (const lease of jobs)
          if (!mine.has(lease.job.id) && leases.get(lease.group) === lease)
            leases.delete(lease.group);
      } catch {
        // The database cannot be reached: the store says so, and others take the leases when it
        // lasts.
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
      if (this.#isRealTime && now - this.#sharedAt >= SHARE_MS) await this.#share(now);
    })();
    try {
      await this.#tidying;
    } catch (error) {
      if (!isOutage(error))
        this.#log.warn(`leases could not be given back; they are later: ${inWords(error)}`);
    } finally {
      this.#tidying = null;
    }
  }

  /** Tells the others how much is served here, and gives back what is more than a fair part. */
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
    this.#tell({
      load: Object.fromEntries([...counts].filter(([, count]) => count > 0)),
      queues: shared,
    });
  }

  /** Gives leases to whoever wants them, due work or not. */
  async #offerBack(
    queue: string,
    leases: readonly GroupLease[],
    { toOthers = false }: { toOthers?: boolean } = {},
  ): Promise<void> {
    if (leases.length === 0) return;
    // One statement: nobody can be stopped in the middle of it.
    await this.#boss.fail(
      queue,
      leases.map(({ job }) => job),
    );
    this.#drop(queue, leases);
    if (toOthers) return this.#lookIn(queue, FETCH_MS);
    this.hint(queue);
    this.#onFreed(queue);
  }

  /** Removes leases whose groups have nothing due. */
  async #remove(queue: string, leases: readonly GroupLease[]): Promise<void> {
    const { removed, busy } = await transactionOn(this.#database, async (connection) => {
      const free = await this.#lock(
        connection,
        leases.map((lease) => entryOfLease(queue, lease)),
      );
      const nextOf = await this.#nextOf(connection, queue, leases);
      // What is due within a moment is not worth the way: the lease is kept.
      const leaving = leases.filter(
        (lease) =>
          free.has(leaseKey(queue, lease.group)) &&
          lease.claimed.size === 0 &&
          nextOf.get(lease.group)!.dueAt > nextOf.get(lease.group)!.now + TIMER_STEP_MS + LINGER_MS,
      );
      if (leaving.length === 0) return { removed: [], busy: [] };
      await this.#boss.deleteJob(
        queue,
        leaving.map(({ job }) => job),
        { db: dbOf(connection) },
      );
      // Once more: a job that came in meanwhile found the lease still there. Whoever adds one from
      // here on finds it locked, and tries again.
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
      text: `SELECT g.group_key, (${this.#nowSql})::float8 AS now, (${earliestDue(`${quoted(this.#schema)}.jobs`, '$1', 'g.group_key')})::float8 AS due_at
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

/** pg-boss's statements on a connection of ours, so that they are part of its transaction. */
export const dbOf = (connection: Connection): Db => ({
  executeSql: async (text, values) =>
    (await connection.query({
      text,
      ...(values && values.length > 0 ? { values } : {}),
    })) as unknown as { rows: unknown[] },
});

/** The same for all that are due at about the same time; never later than the job. */
function timerAt({ dueAt, now }: DueGroup): number {
  const steps = Math.max(1, ((dueAt - now) * TIMER_EARLY) / TIMER_STEP_MS);
  const step = TIMER_STEP_MS * 2 ** Math.floor(Math.log2(steps));
  return Math.floor(dueAt / step) * step;
}

export const timersOf = (queue: string): string => `${queue}.timers`;

/** A job's lease, or the timer that becomes one. */
interface QueueEntry {
  /**
   * Always the same for the same group, so that there is never a second lease; a timer's has its
   * time, too.
   */
  readonly key: string;
  /** pg-boss's. */
  readonly queue: string;
  /** A timer's time; null: a lease. */
  readonly at: number | null;
  readonly placed: DueGroup;
}

const entryOf = (placed: DueGroup): QueueEntry => {
  const at = timerAt(placed);
  return at <= placed.now
    ? { key: leaseKey(placed.queue, placed.group), queue: placed.queue, at: null, placed }
    : { key: leaseKey(placed.queue, placed.group, at), queue: timersOf(placed.queue), at, placed };
};

/** Each once. */
const entriesOf = (placed: readonly DueGroup[]): readonly QueueEntry[] => [
  ...new Map(placed.map((each) => entryOf(each)).map((entry) => [entry.key, entry])).values(),
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
