import type { ClaimRequest, Job, QueueStats, SharedPlaces } from '../../store.ts';
import {
  runOn,
  type Connection,
  type Database,
  type Result,
  type Statement,
} from '../connection/database.ts';
import { dueGroupOf } from './jobWrites.ts';
import { earliestDue, fromText, quoted } from '../connection/sql.ts';
import { timersOf, type GroupLease, type GroupLeases } from './groupLeases.ts';
import { transactionOn } from '../connection/transaction.ts';
import { TtlCache } from '../ttlCache.ts';

/** After this many fresh jobs in a row, a retry has its turn. */
const FRESH_IN_A_ROW = 7;

/** The longest time that counts of jobs are reused. */
const MAX_COUNTS_TTL_MS = 30_000;

const PLACES_FOR_ALL: SharedPlaces = { free: Infinity, heldBy: () => 0 };
/** More places than any pool has, within the range of the statement's integers. */
const MAX_PLACES = 1_000_000_000;

/** A claim whose answer was lost with its connection. It may have been made. */
interface LostClaim {
  readonly queue: string;
  readonly claimant: string;
  /** When its leases have certainly ended, in steady milliseconds. */
  readonly endsAt: number;
}

/** A queue at the moment of counting. */
interface QueueCounts extends QueueStats {
  readonly name: string;
}

interface WorkQueueOptions {
  readonly database: Database;
  readonly leases: GroupLeases;
  readonly schema: string;
  readonly workSchema: string;
  /** The database's clock in milliseconds. */
  readonly nowSql: string;
  /** Names this process while it runs. */
  readonly instance: string;
  /** False in tests that move the time. Then no count is cached. */
  readonly isRealTime: boolean;
}

/** A lease that a claim may take jobs from. */
interface Candidate {
  readonly lease: GroupLease;
  /** The number of its share. */
  readonly share: number;
  /** How many places the share holds. */
  readonly held: number;
  readonly slots: number;
}

/** Claims jobs of the groups that this process serves. */
export class WorkQueue {
  readonly #database: Database;
  readonly #leases: GroupLeases;
  readonly #jobs: string;
  readonly #queues: string;
  readonly #workSchema: string;
  readonly #nowSql: string;
  readonly #instance: string;
  #claims = 0;
  #lost: LostClaim[] = [];
  #served = 0;
  readonly #counts: TtlCache<readonly QueueCounts[]>;

  constructor(options: WorkQueueOptions) {
    this.#database = options.database;
    this.#leases = options.leases;
    this.#jobs = `${quoted(options.schema)}.jobs`;
    this.#queues = `${quoted(options.schema)}.queues`;
    this.#workSchema = options.workSchema;
    this.#nowSql = options.nowSql;
    this.#instance = options.instance;
    this.#counts = new TtlCache(
      () => this.#countJobs(),
      options.isRealTime ? MAX_COUNTS_TTL_MS : 0,
    );
  }

  async claim({
    queue,
    limit,
    places = PLACES_FOR_ALL,
    freeSlots,
    leaseMs,
  }: ClaimRequest): Promise<readonly Job[]> {
    await this.#giveBackLost(queue);
    await this.#leases.fetch(queue);
    const candidates = candidatesOf(this.#leases.of(queue), places, (group) =>
      Math.min(limit, Math.floor(freeSlots(group))),
    );
    if (candidates.length === 0 || limit <= 0) return [];
    const { free } = places; // read now, because it may change before the answer comes
    const claimant = `${this.#instance} ${(this.#claims += 1)}`;
    const { rows } = await runOn(
      this.#database,
      {
        text: this.#claimSql,
        values: [
          queue,
          candidates.map(({ lease }) => lease.group),
          candidates.map(({ slots }) => slots),
          candidates.map(({ lease }) => lease.sinceRetry),
          limit,
          this.#instance,
          leaseMs,
          claimant,
          candidates.map(({ share }) => share),
          candidates.map(({ held }) => held),
          Math.min(free, MAX_PLACES),
        ],
        name: 'cs_claim',
      },
      () => this.#lost.push({ queue, claimant, endsAt: performance.now() + leaseMs }),
    );
    const claimed = [...rows].sort((a, b) => Number(a.turn) - Number(b.turn));
    this.#noteClaimed(claimed, candidates, claimed.length < limit ? free : 0);
    return claimed.map(jobOf);
  }

  /**
   * Updates the leases after a claim.
   * @param free how many places were free, to find the leases with no due job left; 0 when the
   * claim reached its limit, because it may have left due jobs behind
   */
  #noteClaimed(claimed: Result['rows'], candidates: readonly Candidate[], free: number): void {
    const taken = new Map<GroupLease, number>();
    const takenByShare = new Map<number, number>();
    for (const row of claimed) {
      const { lease, share } = candidates[Number(row.place) - 1]!;
      lease.claimed.add(String(row.id));
      lease.servedAt = ++this.#served;
      lease.sinceRetry = row.is_retry === true ? 0 : Math.min(FRESH_IN_A_ROW, lease.sinceRetry + 1);
      lease.emptySince = null;
      taken.set(lease, (taken.get(lease) ?? 0) + 1);
      takenByShare.set(share, (takenByShare.get(share) ?? 0) + 1);
    }
    for (const { lease, share, slots, held } of candidates) {
      const couldTakeMore = held + (takenByShare.get(share) ?? 0) < free - claimed.length;
      if (!couldTakeMore) continue;
      const isEmpty = (taken.get(lease) ?? 0) < slots;
      lease.emptySince = isEmpty ? (lease.emptySince ?? performance.now()) : null;
    }
  }

  async msUntilDue(
    queue: string,
    skip: (group: string) => boolean,
    places: SharedPlaces = PLACES_FOR_ALL,
  ): Promise<number | null> {
    await this.#leases.fetch(queue);
    const leases = sharesOf(this.#leases.of(queue), places).flatMap((share) => share.leases);
    const groups = leases.flatMap(({ group }) => (skip(fromText(group)) ? [] : [group]));
    const { rows } = await runOn(this.#database, {
      text: `SELECT (${this.#nowSql})::float8 AS now,
          (SELECT (extract(epoch FROM min(start_after)) * 1000)::float8 FROM ${quoted(this.#workSchema)}.job WHERE name = $3 AND state < 'active') AS timer,
          min(${earliestDue(this.#jobs, '$1', 'g.group_key')})::float8 AS due_at
        FROM unnest($2::text[]) g (group_key)`,
      values: [queue, groups, timersOf(queue)],
      name: 'cs_due',
    });
    const now = Number(rows[0]!.now);
    const { timer, due_at: dueAt } = rows[0]! as { timer: number | null; due_at: number | null };
    if (timer !== null) this.#leases.hintIn(queue, timer - now);
    const times = [dueAt, timer].filter((at) => at !== null);
    return times.length === 0 ? null : Math.max(0, Math.min(...times) - now);
  }

  async stats(): Promise<Record<string, QueueStats>> {
    const { value: queues, ageMs } = await this.#counts.get();
    return Object.fromEntries(
      queues.map(({ name, oldestDueMs, ...counts }) => [
        name,
        { ...counts, oldestDueMs: oldestDueMs === null ? null : oldestDueMs + ageMs },
      ]),
    );
  }

  /** All jobs, by queue: 60 to 80 ms for each hundred thousand. */
  async #countJobs(): Promise<readonly QueueCounts[]> {
    const { rows } = await this.#readAll({
      text: `SELECT q.name, (count(j.id) FILTER (WHERE j.claimed_by IS NULL OR j.due_at <= (${this.#nowSql})))::int AS waiting,
          (count(j.id) FILTER (WHERE j.due_at <= (${this.#nowSql})))::int AS due,
          (count(j.id) FILTER (WHERE j.claimed_by IS NOT NULL AND j.due_at > (${this.#nowSql})))::int AS claimed,
          ((${this.#nowSql}) - min(j.due_at) FILTER (WHERE j.due_at <= (${this.#nowSql})))::float8 AS oldest
        FROM ${this.#queues} q LEFT JOIN ${this.#jobs} j ON j.queue = q.name GROUP BY q.name`,
    });
    return rows.map(({ name, waiting, due, claimed, oldest }) => ({
      name: String(name),
      waiting: Number(waiting),
      due: Number(due),
      claimed: Number(claimed),
      oldestDueMs: oldest === null ? null : Number(oldest),
    }));
  }

  /** Lets others claim at once what this process has claimed and not finished. */
  async giveBackAll(): Promise<void> {
    await this.#giveBack('starts_with(claimed_by, $1)', this.#instance);
  }

  /**
   * Gives back lost claims. The server may still be making a claim, so each is retried until found.
   */
  async #giveBackLost(queue: string): Promise<void> {
    this.#lost = this.#lost.filter(({ endsAt }) => endsAt > performance.now());
    for (const lost of this.#lost.filter((each) => each.queue === queue)) {
      if (await this.#giveBack('claimed_by = $1', lost.claimant))
        this.#lost = this.#lost.filter((each) => each !== lost);
    }
  }

  /** @returns whether there was any job to give back */
  async #giveBack(whose: string, claimant: string): Promise<boolean> {
    const { rowCount } = await runOn(this.#database, {
      text: `UPDATE ${this.#jobs} SET claimed_by = NULL, due_at = (${this.#nowSql}) WHERE claimed_by IS NOT NULL AND ${whose}`,
      values: [claimant],
    });
    return (rowCount ?? 0) > 0;
  }

  /** Runs a statement that reads whole tables. */
  #readAll(statement: Statement): Promise<Result> {
    const run = async (connection: Connection) => {
      await connection.query({ text: 'SET LOCAL enable_seqscan = on' });
      return connection.query(statement);
    };
    return transactionOn(this.#database, run, 'BEGIN READ ONLY');
  }

  /**
   * Creates leases for groups with due jobs and none: jobs may be added while a lease is removed.
   */
  async offerGroupsWithoutLease(): Promise<void> {
    const { rows } = await runOn(this.#database, {
      text: `WITH RECURSIVE g AS (
          (SELECT queue, group_key FROM ${this.#jobs} ORDER BY queue, group_key LIMIT 1)
          UNION ALL
          SELECT n.queue, n.group_key FROM g CROSS JOIN LATERAL
            (SELECT j.queue, j.group_key FROM ${this.#jobs} j WHERE (j.queue, j.group_key) > (g.queue, g.group_key) ORDER BY j.queue, j.group_key LIMIT 1) n)
        SELECT queue, group_key, (${this.#nowSql})::float8 AS now, (${earliestDue(this.#jobs, 'g.queue', 'g.group_key')})::float8 AS due_at FROM g`,
      name: 'cs_without_lease',
    });
    await this.#leases.offerMissing(rows.map(dueGroupOf));
  }

  /**
   * Takes from each group as many jobs as it has slots, minus the jobs of it that other processes
   * still have. Within a group, fresh jobs come first and every eighth is a retry. Within a share,
   * the groups take turns. Of the shares, the one with the fewest places comes first, as long as it
   * holds fewer than are free. Rows are found again by `ctid`, so that it does not
   * matter which plan was made while the table was empty.
   */
  get #claimSql(): string {
    const of = (
      retry: boolean,
    ) => `SELECT d.tid, row_number() OVER (ORDER BY d.due_at, d.seq) - 1 AS k FROM (
          SELECT j.ctid AS tid, j.due_at, j.seq FROM ${this.#jobs} j
          WHERE j.queue = $1 AND j.group_key = l.group_key AND ${retry ? '' : 'NOT '}j.is_retry AND j.due_at <= n.ms
          ORDER BY j.due_at, j.seq LIMIT greatest(l.slots, 0)) d`;
    return `WITH n AS MATERIALIZED (SELECT ${this.#nowSql} AS ms),
      leases AS (SELECT a.place, a.group_key, a.since_retry, a.share, a.held, a.slots - (SELECT count(*) FROM ${this.#jobs} o WHERE o.queue = $1 AND o.group_key = a.group_key
            AND o.claimed_by IS NOT NULL AND NOT starts_with(o.claimed_by, $6) AND o.due_at > n.ms) AS slots
          FROM unnest($2::text[], $3::int[], $4::int[], $9::int[], $10::int[]) WITH ORDINALITY AS a (group_key, slots, since_retry, share, held, place), n),
      candidates AS (SELECT l.place, c.tid, row_number() OVER (PARTITION BY l.place ORDER BY c.position, c.retry) AS turn
          FROM leases l CROSS JOIN n CROSS JOIN LATERAL (
            SELECT f.tid, 0 AS retry, f.k + (f.k + l.since_retry) / ${FRESH_IN_A_ROW} AS position FROM (${of(false)}) f
            UNION ALL
            SELECT r.tid, 1, ${FRESH_IN_A_ROW} - l.since_retry + ${FRESH_IN_A_ROW + 1} * r.k FROM (${of(true)}) r) c
          WHERE l.slots > 0),
      ranked AS (SELECT c.tid, c.place, l.share, l.held + row_number() OVER (PARTITION BY l.share ORDER BY c.turn, c.place) - 1 AS held
          FROM candidates c JOIN leases l ON l.place = c.place WHERE c.turn <= l.slots),
      ordered AS (SELECT tid, place, held, row_number() OVER (ORDER BY held, share) AS turn FROM ranked),
      chosen AS (SELECT tid, place, turn FROM ordered WHERE held + turn <= $11 ORDER BY turn LIMIT $5)
      UPDATE ${this.#jobs} j SET claimed_by = $8, due_at = n.ms + $7::bigint FROM chosen c, n
      WHERE j.ctid = c.tid AND j.due_at <= n.ms
      RETURNING j.id, j.queue, j.group_key, j.run_at, j.rank, j.is_retry, j.data, c.turn, c.place`;
  }
}

/** The leases of a share that may take more places. */
interface ShareOfLeases {
  readonly held: number;
  readonly leases: readonly GroupLease[];
}

/** The shares that may take more places, the one served longest ago first. */
function sharesOf(leases: readonly GroupLease[], places: SharedPlaces): readonly ShareOfLeases[] {
  return [...Map.groupBy(leases, ({ share }) => share)]
    .map(([share, of]) => ({
      held: places.heldBy(share),
      leases: of,
      servedAt: Math.max(0, ...of.map(({ servedAt }) => servedAt)),
    }))
    .filter(({ held }) => held < places.free)
    .sort((a, b) => a.servedAt - b.servedAt);
}

/** The leases with free slots, by share. Within a share, the one served longest ago comes first. */
const candidatesOf = (
  leases: readonly GroupLease[],
  places: SharedPlaces,
  slotsOf: (group: string) => number,
): readonly Candidate[] =>
  sharesOf(leases, places).flatMap(({ held, leases: of }, share) =>
    of
      .map((lease) => ({ lease, share, held, slots: slotsOf(fromText(lease.group)) }))
      .filter(({ slots }) => slots > 0)
      .sort((a, b) => a.lease.servedAt - b.lease.servedAt),
  );

const jobOf = ({ id, queue, group_key, run_at, rank, data }: Record<string, unknown>): Job => ({
  id: fromText(String(id)),
  queue: String(queue),
  group: fromText(String(group_key)),
  runAt: Number(run_at),
  rank: Number(rank),
  data: data as Job['data'],
});
