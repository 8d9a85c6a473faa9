// What it costs to claim a due job beside the waiting, or overdue, retries of a dead subscriber.
import type { Job } from '../../service/src/store/store.ts';
import type { Effort } from './comparison.ts';
import { openOnServer, type BenchServer, type BenchStore } from './postgresServer.ts';
import { median } from './statistics.ts';

const QUEUE = 'deliveries';
const DEAD = 'sub_dead';
const LIVING = 'sub_living';
export const SIZES = [0, 10_000, 100_000] as const;
const CLAIMS = 50;
const LOOKS = 20;
const FILL_AT_ONCE = 2000;
const LEASE_MS = 600_000;
/** Retries that wait come due within this time, and not before the measurement is over. */
const SPREAD_MS = 3_600_000;
const WAIT_AT_LEAST_MS = 900_000;

/**
 *  `waiting`: each for its time. `due`: the receiver was switched off while events came in, and all their times have come.
 */
type Backlog = 'waiting' | 'due';

export interface Cost {
  readonly ms: number;
  /** Pages looked at. */
  readonly buffers: number;
}

interface Costs {
  readonly claim: Cost;
  /** Of the transaction that ends what was claimed. */
  readonly end: Cost;
  readonly msUntilDue: Cost;
  readonly stats: Cost;
}

export interface ClaimCosts extends Costs {
  readonly size: number;
  readonly backlog: Backlog;
  /** Whether the server has been told how much the tables hold now. */
  readonly analyzed: boolean;
}

export async function measureClaims(server: BenchServer, { share }: Effort): Promise<ClaimCosts[]> {
  const measured: ClaimCosts[] = [];
  for (const backlog of ['waiting', 'due'] as const) {
    const schema = `claims_${backlog}`;
    const store = await openOnServer(server, schema, [QUEUE]);
    try {
      await server.query(`ALTER TABLE ${schema}.jobs SET (autovacuum_enabled = false)`);
      let there = 0;
      for (const size of SIZES.map((each) => each * share)) {
        await fill(store, backlog, there, size);
        there = size;
        for (const analyzed of [false, true]) {
          if (analyzed) await server.query(`ANALYZE ${schema}.jobs`);
          measured.push({ size, backlog, analyzed, ...(await measureAt(server, store)) });
        }
      }
    } finally {
      await store.close();
    }
  }
  return measured;
}

/** By chunks, as many transactions would. */
async function fill(store: BenchStore, backlog: Backlog, from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += FILL_AT_ONCE) {
    await store.transaction(async (tx) => {
      for (let i = at; i < Math.min(to, at + FILL_AT_ONCE); i += 1) {
        const runAt =
          backlog === 'due'
            ? Date.now() - 1000
            : Date.now() + WAIT_AT_LEAST_MS + ((i * 7919) % SPREAD_MS);
        await tx.jobs.enqueue({
          id: `dead_${i}`,
          queue: QUEUE,
          group: DEAD,
          runAt,
          rank: 1,
          data: {},
        });
      }
    });
  }
}

async function measureAt(server: BenchServer, store: BenchStore): Promise<Costs> {
  await enqueueLiving(store, CLAIMS + 1);
  await giveBack(store, await claimTwo(store)); // fetches the lease
  let claimed: readonly Job[] = [];
  const [claim, end] = await costsOf(server, CLAIMS, [
    async () => void (claimed = await claimTwo(store)),
    () => giveBack(store, claimed),
  ]);
  await store.msUntilDue(QUEUE);
  const [msUntilDue, stats] = await costsOf(server, LOOKS, [
    () => store.msUntilDue(QUEUE),
    () => store.stats(),
  ]);
  return { claim: claim!, end: end!, msUntilDue: msUntilDue!, stats: stats! };
}

const enqueueLiving = (store: BenchStore, count: number) =>
  store.transaction(async (tx) => {
    for (let i = 0; i < count; i += 1)
      await tx.jobs.enqueue({
        id: `living_${i}`,
        queue: QUEUE,
        group: LIVING,
        runAt: Date.now() - 1,
        rank: 0,
        data: {},
      });
  });

/**
 * One of the living subscriber's, and one of the dead one's where any is due: its limit has gone
 * down to one.
 */
async function claimTwo(store: BenchStore): Promise<readonly Job[]> {
  const jobs = await store.claim({ queue: QUEUE, limit: 2, freeSlots: () => 1, leaseMs: LEASE_MS });
  if (!jobs.some(({ group }) => group === LIVING))
    throw new Error('nothing of the living subscriber was claimed');
  return jobs;
}

/** As after an attempt: one is done, the other failed and is due again soon. */
const giveBack = (store: BenchStore, claimed: readonly Job[]) =>
  store.transaction(async (tx) => {
    for (const job of claimed)
      await (job.group === LIVING ? tx.jobs.complete(job.id) : tx.jobs.release(job.id, job));
  });

/** Medians of what calls cost that are made in turn. */
async function costsOf(
  server: BenchServer,
  times: number,
  calls: readonly (() => Promise<unknown>)[],
): Promise<Cost[]> {
  const costs = calls.map(() => ({ ms: [] as number[], buffers: [] as number[] }));
  for (let i = 0; i < times; i += 1) {
    for (const [at, call] of calls.entries()) {
      const before = await server.work();
      const startedAt = performance.now();
      await call();
      costs[at]!.ms.push(performance.now() - startedAt);
      costs[at]!.buffers.push((await server.work()).buffers - before.buffers);
    }
  }
  return costs.map(({ ms, buffers }) => ({ ms: median(ms), buffers: median(buffers) }));
}
