// What it costs to claim a due job beside the waiting, or overdue, retries of a dead subscriber.
import { setTimeout as sleep } from 'node:timers/promises';
import { collections } from '../../service/src/domain/collections.ts';
import { openPostgresStore, serviceMigrations } from '../../service/src/store/postgres/index.ts';
import type { Job, Store } from '../../service/src/store/store.ts';
import type { Effort } from './comparison.ts';
import type { BenchServer } from './postgresServer.ts';
import { median } from './statistics.ts';

const QUEUE = 'deliveries';
const DEAD = 'sub_dead';
const LIVING = 'sub_living';
const SIZES = [0, 10_000, 100_000] as const;
const CLAIMS = 200;
const LOOKS = 20;
const FILL_AT_ONCE = 2000;
const LEASE_MS = 600_000;
/** Retries that wait come due within this time, and not before the measurement is over. */
const SPREAD_MS = 3_600_000;
const WAIT_AT_LEAST_MS = 900_000;

/** `waiting`: each for its time. `due`: the receiver was switched off while events came in, and all their times have come. */
type Backlog = 'waiting' | 'due';

interface Cost {
  readonly ms: number;
  readonly buffers: number;
  readonly statements: number;
}

interface Measured {
  readonly size: number;
  readonly backlog: Backlog;
  /** Whether the server has been told how much the tables hold now. */
  readonly analyzed: boolean;
  readonly claim: Cost;
  readonly msUntilDue: Cost;
  readonly stats: Cost;
}

type BenchStore = Store<typeof collections>;

export async function measureClaims(server: BenchServer, { share }: Effort): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const backlog of ['waiting', 'due'] as const) {
    const schema = `claims_${backlog}`;
    const store = await openPostgresStore(collections, { database: server.url, schema, migrations: serviceMigrations, queues: [QUEUE], connections: 2 });
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
        const runAt = backlog === 'due' ? Date.now() - 1000 : Date.now() + WAIT_AT_LEAST_MS + ((i * 7919) % SPREAD_MS);
        await tx.jobs.enqueue({ id: `dead_${i}`, queue: QUEUE, group: DEAD, runAt, rank: 1, data: {} });
      }
    });
  }
}

async function measureAt(server: BenchServer, store: BenchStore): Promise<Pick<Measured, 'claim' | 'msUntilDue' | 'stats'>> {
  const claimed: Job[] = [];
  await enqueueLiving(store, CLAIMS + 1);
  await claimOne(store, claimed); // fetches the lane
  const claim = await costOf(server, CLAIMS, () => claimOne(store, claimed));
  await store.transaction(async (tx) => {
    for (const job of claimed) await (job.group === LIVING ? tx.jobs.complete(job.id) : tx.jobs.release(job.id, job));
  });
  await store.msUntilDue(QUEUE);
  const msUntilDue = await costOf(server, LOOKS, () => store.msUntilDue(QUEUE));
  const stats = await costOf(server, LOOKS, () => store.stats());
  return { claim, msUntilDue, stats };
}

const enqueueLiving = (store: BenchStore, count: number) =>
  store.transaction(async (tx) => {
    for (let i = 0; i < count; i += 1) await tx.jobs.enqueue({ id: `living_${i}`, queue: QUEUE, group: LIVING, runAt: Date.now() - 1, rank: 0, data: {} });
  });

/** One of the living subscriber's, and one of the dead one's where any is due: its limit has gone down to one. */
async function claimOne(store: BenchStore, claimed: Job[]): Promise<void> {
  const jobs = await store.claim({ queue: QUEUE, limit: 2, freeSlots: () => 1, leaseMs: LEASE_MS });
  if (!jobs.some(({ group }) => group === LIVING)) throw new Error('nothing of the living subscriber was claimed');
  claimed.push(...jobs);
}

async function costOf(server: BenchServer, times: number, call: () => Promise<unknown>): Promise<Cost> {
  await sleep(20); // what is under way aside ends
  const before = await server.work();
  const ms: number[] = [];
  for (let i = 0; i < times; i += 1) {
    const startedAt = performance.now();
    await call();
    ms.push(performance.now() - startedAt);
  }
  const after = await server.work();
  return { ms: median(ms), buffers: (after.buffers - before.buffers) / times, statements: (after.statements - before.statements) / times };
}
