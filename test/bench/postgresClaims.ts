// What it costs to claim a due job beside the waiting, or overdue, retries of a dead subscriber.
import type { Job } from '../../service/src/store/store.ts';
import type { Effort } from './comparison.ts';
import { openOnServer, type BenchServer, type BenchStore } from './postgresServer.ts';
import { round, type PartResult, type Ratio } from './report.ts';
import type { Tls } from './sinkClient.ts';
import { median } from './statistics.ts';

const QUEUE = 'deliveries';
const DEAD = 'sub_dead';
const LIVING = 'sub_living';
const SIZES = [0, 10_000, 100_000];
const CLAIMS = 50;
const QUERIES = 20;
const FILL_AT_ONCE = 2000;
const LEASE_MS = 600_000;
/** Beside a large table, work may look at up to so many times the pages: trees grow by a level. */
export const FLAT = { atMost: 1.5 };
/** The first waiting retry comes due long after the measurement is over, the last one an hour later. */
const WAIT_AT_LEAST_MS = 900_000;
const SPREAD_MS = 3_600_000;

/**
 * `waiting`: each retry waits for its time. `due`: the receiver was switched off while events came
 * in, and the time of each has come.
 */
type Backlog = 'waiting' | 'due';

interface Cost {
  readonly ms: number;
  /** Pages of 8 KiB that PostgreSQL looked at. */
  readonly pages: number;
}

interface Costs {
  readonly claim: Cost;
  /** The transaction that ends what was claimed. */
  readonly end: Cost;
  readonly msUntilDue: Cost;
  readonly stats: Cost;
}

interface ClaimCosts extends Costs {
  readonly size: number;
  readonly backlog: Backlog;
  /** Whether the server has been told how much the tables hold now. */
  readonly isAnalyzed: boolean;
}

export async function measureClaims(
  server: BenchServer,
  _: Tls,
  effort: Effort,
): Promise<PartResult> {
  const measured = await claimCosts(server, effort);
  const text = ({ ms, pages }: Cost) => `${round(pages)} pages, ${round(ms)} ms`;
  const pairs = measured
    .filter(({ size }) => size > 0)
    .map((loaded) => ({
      loaded,
      name: `beside ${loaded.size.toLocaleString('en-US')} ${loaded.backlog} retries of a dead subscriber${loaded.isAnalyzed ? ', after ANALYZE' : ''}`,
      empty: measured.find(
        ({ size, backlog, isAnalyzed }) =>
          size === 0 && backlog === loaded.backlog && isAnalyzed === loaded.isAnalyzed,
      )!,
    }));
  return {
    ratios: pairs.map(
      ({ name, loaded, empty }): Ratio => ({
        name: `Pages looked at to claim a job ${name}, to none`,
        values: [loaded.claim.pages / empty.claim.pages],
        // Beside due retries, each claim takes one more job: the dead subscriber's.
        goal: loaded.backlog === 'waiting' ? FLAT : null,
        ours: text(loaded.claim),
        beside: text(empty.claim),
      }),
    ),
    figures: pairs
      .filter(({ loaded }) => loaded.isAnalyzed)
      .flatMap(({ name, loaded, empty }) =>
        (
          [
            ['end', 'To end what was claimed'],
            ['msUntilDue', 'To ask how long until something is due'],
            [
              'stats',
              'To count everything for /metrics, which is kept for a while when it took long,',
            ],
          ] as const
        ).map(([cost, what]) => ({
          name: `${what} ${name}, beside none`,
          ours: text(loaded[cost]),
          beside: text(empty[cost]),
        })),
      ),
    settings: [
      `Claims: the store's own claim of another subscription's due job, in one process, beside ${SIZES.map((size) => size.toLocaleString('en-US')).join(', ')} retries of a dead subscriber that wait (for 15 to 75 minutes) or are all due (its receiver was switched off while events came in; one of its jobs is then claimed with each). ` +
        'Pages of 8 KiB that PostgreSQL looked at, medians; once with what the server knew of the empty table and plans made then, autovacuum off, once after ANALYZE.',
    ],
  };
}

async function claimCosts(server: BenchServer, { share }: Effort): Promise<ClaimCosts[]> {
  const measured: ClaimCosts[] = [];
  for (const backlog of ['waiting', 'due'] as const) {
    const schema = `claims_${backlog}`;
    const store = await openOnServer(server, schema, [QUEUE]);
    try {
      await server.query(`ALTER TABLE ${schema}.jobs SET (autovacuum_enabled = false)`);
      let stored = 0;
      for (const size of SIZES.map((each) => each * share)) {
        await fill(store, backlog, stored, size);
        stored = size;
        for (const isAnalyzed of [false, true]) {
          if (isAnalyzed) await server.query(`ANALYZE ${schema}.jobs`);
          measured.push({ size, backlog, isAnalyzed, ...(await measureAt(server, store)) });
        }
      }
    } finally {
      await store.close();
    }
  }
  return measured;
}

/** Stores the dead subscriber's retries `from` to `to`, in transactions of limited size. */
async function fill(store: BenchStore, backlog: Backlog, from: number, to: number): Promise<void> {
  const runAt = (i: number) =>
    Date.now() + (backlog === 'due' ? -1000 : WAIT_AT_LEAST_MS + ((i * 7919) % SPREAD_MS));
  for (let at = from; at < to; at += FILL_AT_ONCE)
    await enqueue(store, {
      group: DEAD,
      rank: 1,
      from: at,
      to: Math.min(to, at + FILL_AT_ONCE),
      runAt,
    });
}

interface NewJobs {
  readonly group: string;
  readonly rank: number;
  /** Their numbers; `to` is not included. */
  readonly from: number;
  readonly to: number;
  readonly runAt: (i: number) => number;
}

const enqueue = (store: BenchStore, { group, rank, from, to, runAt }: NewJobs) =>
  store.transaction(async (tx) => {
    for (let i = from; i < to; i += 1) {
      const id = `${group}_${i}`;
      await tx.jobs.enqueue({ id, queue: QUEUE, group, runAt: runAt(i), rank, data: {} });
    }
  });

async function measureAt(server: BenchServer, store: BenchStore): Promise<Costs> {
  const runAt = () => Date.now() - 1;
  await enqueue(store, { group: LIVING, rank: 0, from: 0, to: CLAIMS + 1, runAt });
  await giveBack(store, await claimTwo(store)); // fetches the lease
  let claimed: readonly Job[] = [];
  const [claim, end] = await costsOf(server, CLAIMS, [
    async () => void (claimed = await claimTwo(store)),
    () => giveBack(store, claimed),
  ]);
  await store.msUntilDue(QUEUE);
  const [msUntilDue, stats] = await costsOf(server, QUERIES, [
    () => store.msUntilDue(QUEUE),
    () => store.stats(),
  ]);
  return { claim: claim!, end: end!, msUntilDue: msUntilDue!, stats: stats! };
}

/**
 * Claims one job of the living subscriber, and one of the dead subscriber if any is due: its limit
 * has gone down to one.
 */
async function claimTwo(store: BenchStore): Promise<readonly Job[]> {
  const jobs = await store.claim({ queue: QUEUE, limit: 2, freeSlots: () => 1, leaseMs: LEASE_MS });
  if (!jobs.some(({ group }) => group === LIVING))
    throw new Error('nothing of the living subscriber was claimed');
  return jobs;
}

/** As after an attempt: the living subscriber's job is done, the dead one's is due again soon. */
const giveBack = (store: BenchStore, claimed: readonly Job[]) =>
  store.transaction(async (tx) => {
    for (const job of claimed)
      await (job.group === LIVING ? tx.jobs.complete(job.id) : tx.jobs.release(job.id, job));
  });

/** Makes the calls in turn. @returns the median cost of each */
async function costsOf(
  server: BenchServer,
  times: number,
  calls: readonly (() => Promise<unknown>)[],
): Promise<Cost[]> {
  const costs = calls.map(() => ({ ms: [] as number[], pages: [] as number[] }));
  for (let i = 0; i < times; i += 1) {
    for (const [index, call] of calls.entries()) {
      const before = await server.work();
      const startedAt = performance.now();
      await call();
      costs[index]!.ms.push(performance.now() - startedAt);
      costs[index]!.pages.push((await server.work()).pages - before.pages);
    }
  }
  return costs.map(({ ms, pages }) => ({ ms: median(ms), pages: median(pages) }));
}
