import {
  shareOf,
  type ClaimRequest,
  type Job,
  type QueueStats,
  type SharedPlaces,
} from '../../store.ts';
import {
  runOn,
  type Connection,
  type Database,
  type Result,
  type Statement,
} from '../connection/database.ts';
import type { DatabaseClock } from '../connection/databaseClock.ts';
import { fromText, quoted } from '../connection/sql.ts';
import { transactionOn } from '../connection/transaction.ts';
import { TtlCache } from '../ttlCache.ts';
import type { DueGroup } from './jobWrites.ts';
import { lookAt } from './look.ts';
import { FRESH_IN_A_ROW, ReadyGroups, type Found } from './readyGroups.ts';
import { UpcomingJobs } from './upcomingJobs.ts';
import type { Workers } from './workers.ts';

/** The longest time that counts of jobs are reused. */
const MAX_COUNTS_TTL_MS = 30_000;
/** How long the upcoming jobs that a look has found are assumed to be unchanged. */
const LOOK_AGAIN_MS = 100;
/**
 * How far back to look again for due jobs that no notification named: longer than any transaction
 * can take to commit.
 */
const MISSED_MS = 60_000;

const PLACES_FOR_ALL: SharedPlaces = { free: Infinity, heldBy: () => 0 };
/** More places than any pool has, within the range of the statement's integers. */
const MAX_PLACES = 1_000_000_000;

/** A claim whose answer was lost with its connection. The server may have made it. */
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

/** What this process knows of a queue. */
interface KnownQueue {
  readonly ready: ReadyGroups;
  readonly upcoming: UpcomingJobs;
}

interface WorkQueueOptions {
  readonly database: Database;
  readonly schema: string;
  readonly time: Pick<DatabaseClock, 'estimate' | 'isReal' | 'sql'>;
  readonly workers: Workers;
  /** Names this process while it runs. */
  readonly instance: string;
}

/**
 * Claims jobs, and knows which groups have due ones.
 * @see docs/decisions/0031-postgresql-groups.md
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #database: Database;
  readonly #schema: string;
  readonly #jobs: string;
  readonly #nowSql: string;
  /** By queue; only queues whose work this process has asked for. */
  readonly #known = new Map<string, KnownQueue>();
  #claims = 0;
  #lost: LostClaim[] = [];
  readonly #counts: TtlCache<readonly QueueCounts[]>;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#database = options.database;
    this.#schema = quoted(options.schema);
    this.#jobs = `${this.#schema}.jobs`;
    this.#nowSql = options.time.sql;
    this.#counts = new TtlCache(
      () => this.#countJobs(),
      options.time.isReal ? MAX_COUNTS_TTL_MS : 0,
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
    const { workers, instance, time } = this.#options;
    if (limit <= 0 || !workers.worksOn(queue)) return [];
    const { ready, upcoming } = this.#knownOf(queue);
    if (!time.isReal || upcoming.isLookDue(time.estimate)) await this.#look(queue);
    const candidates = ready.candidates(places, (group) =>
      Math.min(limit, Math.floor(freeSlots(group))),
    );
    if (candidates.length === 0) return [];
    const askedAt = performance.now();
    const claimant = `${instance} ${(this.#claims += 1)}`;
    const { rows } = await runOn(
      this.#database,
      {
        text: this.#claimSql,
        values: [
          queue,
          candidates.map(({ ready: { group } }) => group),
          candidates.map(({ slots }) => slots),
          candidates.map(({ ready: { sinceRetry } }) => sinceRetry),
          candidates.map(({ ready: { group } }) => ready.isMine(group)),
          candidates.map(({ share }) => share),
          candidates.map(({ held }) => held),
          Math.min(places.free, MAX_PLACES),
          limit,
          instance,
          claimant,
          leaseMs,
        ],
        name: 'cs_claim',
      },
      () => this.#lost.push({ queue, claimant, endsAt: performance.now() + leaseMs }),
    );
    const taken = rows
      .filter(({ id }) => id !== null)
      .sort((a, b) => Number(a.turn) - Number(b.turn));
    for (const { place, is_retry } of taken)
      ready.served(candidates[Number(place) - 1]!.ready, is_retry === true);
    for (const [place, groupRows] of Map.groupBy(rows, (row) => Number(row.place)))
      ready.note(candidates[place - 1]!.ready, foundOf(groupRows), askedAt);
    return taken.map(jobOf);
  }

  async msUntilDue(
    queue: string,
    skip: (group: string) => boolean,
    places: SharedPlaces = PLACES_FOR_ALL,
  ): Promise<number | null> {
    const { workers, time } = this.#options;
    if (!workers.worksOn(queue)) return null;
    const { ready, upcoming } = this.#knownOf(queue);
    if (ready.msUntilTry(places, skip) === 0) return 0;
    const isFresh = upcoming.hasLookedWithin(LOOK_AGAIN_MS) && !upcoming.isLookDue(time.estimate);
    if (!time.isReal || !isFresh) await this.#look(queue);
    const hasRoom = (group: string) => places.heldBy(shareOf(group)) < places.free;
    const dueAt = upcoming.nextDueAt((group) => !skip(group) && hasRoom(group));
    const ms = Math.min(ready.msUntilTry(places, skip), Math.max(0, dueAt - time.estimate));
    return ms === Infinity ? null : ms;
  }

  /**
   * Notes groups to which jobs were added.
   * @returns the queues that this process should look at now
   */
  noteAdded(added: readonly DueGroup[]): ReadonlySet<string> {
    const now = this.#options.time.estimate;
    const queues = new Set<string>();
    for (const { queue, group, dueAt } of added) {
      const known = this.#known.get(queue);
      if (known === undefined) continue;
      if (dueAt > now) known.upcoming.expect(dueAt);
      else known.ready.add(group);
      if (dueAt > now || known.ready.isMine(group)) queues.add(queue);
    }
    return queues;
  }

  /** Looks again, also for what became due a while ago without a notification. */
  lookBack(): void {
    for (const { ready, upcoming } of this.#known.values()) {
      ready.forgetOld();
      upcoming.lookBack(MISSED_MS);
    }
  }

  /** Looks at everything again, as after an outage. */
  lookAgain(): void {
    for (const { upcoming } of this.#known.values()) upcoming.lookBack(Infinity);
  }

  /** Forgets a queue whose work this process no longer takes. */
  leave(queue: string): void {
    this.#known.delete(queue);
  }

  #knownOf(queue: string): KnownQueue {
    let known = this.#known.get(queue);
    if (known === undefined) {
      known = {
        ready: new ReadyGroups((group) => this.#options.workers.isMine(queue, group)),
        upcoming: new UpcomingJobs(),
      };
      this.#known.set(queue, known);
    }
    return known;
  }

  /** Finds the groups whose jobs have become due since the last look, and those due next. */
  async #look(queue: string): Promise<void> {
    const { ready, upcoming } = this.#knownOf(queue);
    const from = upcoming.beginLook();
    try {
      const look = await lookAt(
        this.#database,
        { jobs: this.#jobs, nowSql: this.#nowSql },
        queue,
        from,
      );
      for (const { group, dueAt } of look.groups) if (dueAt === null) ready.add(group);
      upcoming.endLook(look);
    } catch (error) {
      upcoming.lookBack(Infinity);
      throw error;
    }
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
        FROM ${this.#schema}.queues q LEFT JOIN ${this.#jobs} j ON j.queue = q.name GROUP BY q.name`,
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
    await this.#giveBack('starts_with(claimed_by, $1)', this.#options.instance);
  }

  /**
   * Gives back lost claims. The server may still be making a claim, so each is retried until found.
   */
  async #giveBackLost(queue: string): Promise<void> {
    this.#lost = this.#lost.filter(({ endsAt }) => endsAt > performance.now());
    for (const lost of this.#lost.filter((each) => each.queue === queue)) {
      if (!(await this.#giveBack('claimed_by = $1', lost.claimant))) continue;
      this.#lost = this.#lost.filter((each) => each !== lost);
      this.#knownOf(queue).upcoming.expect(-Infinity);
    }
  }

  /** @returns whether there was any job to give back */
  async #giveBack(condition: string, claimant: string): Promise<boolean> {
    const { rowCount } = await runOn(this.#database, {
      text: `UPDATE ${this.#jobs} SET claimed_by = NULL, due_at = (${this.#nowSql}) WHERE claimed_by IS NOT NULL AND ${condition}`,
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
   * Takes from each group as many jobs as it has slots, minus the jobs of it that other processes
   * still have. `claimed_elsewhere` counts those under a lock for each group; it gives null when
   * another process is claiming from the group at this moment. A group that is not ours is taken
   * from, and locked, only when no other process has any of its jobs.
   *
   * Within a group, fresh jobs come first and every eighth is a retry. Within a share, the groups
   * take turns. Of the shares, the one with the fewest places comes first, as long as it holds fewer
   * than are free. Rows are found again by `ctid`, so that it does not matter which plan was made
   * while the table was empty. A row that has changed since has another `ctid` and is not taken.
   */
  get #claimSql(): string {
    const dueJobs = (
      kind: string,
    ) => `SELECT d.tid, row_number() OVER (ORDER BY d.due_at, d.seq) - 1 AS k FROM (
          SELECT j.ctid AS tid, j.due_at, j.seq FROM ${this.#jobs} j
          WHERE j.queue = $1 AND j.group_key = g.group_key AND ${kind} AND j.due_at <= n.ms
          ORDER BY j.due_at, j.seq LIMIT g.slots) d`;
    return `WITH n AS MATERIALIZED (SELECT ${this.#nowSql} AS ms),
      asked AS MATERIALIZED (SELECT a.*, ${this.#schema}.claimed_elsewhere($1, a.group_key, a.is_mine, $10, n.ms) AS elsewhere
          FROM unnest($2::text[], $3::int[], $4::int[], $5::boolean[], $6::int[], $7::int[]) WITH ORDINALITY AS a (group_key, slots, since_retry, is_mine, share, held, place), n),
      groups AS (SELECT place, group_key, since_retry, share, held, elsewhere,
            CASE WHEN elsewhere = 0 OR is_mine THEN greatest(0, slots - elsewhere) ELSE 0 END AS slots FROM asked),
      candidates AS (SELECT g.place, c.tid, row_number() OVER (PARTITION BY g.place ORDER BY c.position, c.retry) AS turn
          FROM groups g CROSS JOIN n CROSS JOIN LATERAL (
            SELECT f.tid, 0 AS retry, f.k + (f.k + g.since_retry) / ${FRESH_IN_A_ROW} AS position FROM (${dueJobs('NOT j.is_retry')}) f
            UNION ALL
            SELECT r.tid, 1, ${FRESH_IN_A_ROW} - g.since_retry + ${FRESH_IN_A_ROW + 1} * r.k FROM (${dueJobs('j.is_retry')}) r) c
          WHERE g.slots > 0),
      ranked AS (SELECT c.tid, c.place, g.share, g.held + row_number() OVER (PARTITION BY g.share ORDER BY c.turn, c.place) - 1 AS held
          FROM candidates c JOIN groups g ON g.place = c.place WHERE c.turn <= g.slots),
      found AS (SELECT place, count(*)::int AS found FROM ranked GROUP BY place),
      ordered AS (SELECT tid, place, held, row_number() OVER (ORDER BY held, share) AS turn FROM ranked),
      chosen AS (SELECT tid, place, turn FROM ordered WHERE held + turn <= $8 ORDER BY turn LIMIT $9),
      taken AS (UPDATE ${this.#jobs} j SET claimed_by = $11, due_at = n.ms + $12::bigint FROM chosen c, n
          WHERE j.ctid = c.tid AND j.due_at <= n.ms
          RETURNING j.id, j.queue, j.group_key, j.run_at, j.rank, j.is_retry, j.data, c.turn, c.place)
      SELECT g.place, g.elsewhere, g.slots, COALESCE(f.found, 0) AS found, t.id, t.queue, t.group_key, t.run_at, t.rank, t.is_retry, t.data, t.turn
      FROM groups g LEFT JOIN found f ON f.place = g.place LEFT JOIN taken t ON t.place = g.place`;
  }
}

/** @param rows a group's: one for each job taken, or one without a job */
function foundOf(rows: Result['rows']): Found {
  const { elsewhere, slots, found } = rows[0]!;
  const taken = rows.filter(({ id }) => id !== null).length;
  return {
    elsewhere: elsewhere === null ? null : Number(elsewhere),
    slots: Number(slots),
    hasMore: Number(found) === Number(slots) || taken < Number(found),
  };
}

const jobOf = ({ id, queue, group_key, run_at, rank, data }: Record<string, unknown>): Job => ({
  id: fromText(String(id)),
  queue: String(queue),
  group: fromText(String(group_key)),
  runAt: Number(run_at),
  rank: Number(rank),
  data: data as Job['data'],
});
