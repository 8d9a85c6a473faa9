// How a snapshot of a large store slows the API's writes down.
import { cpSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Pool } from 'undici';
import { startHelper, temporaryFolder, type Helper } from './children.ts';
import type { Delays, SnapshotQuestion } from './snapshotService.ts';
import { median, quantile } from './statistics.ts';

export interface SnapshotsOptions {
  /** Stored before; about 1,500 bytes each. Default 100,000. */
  readonly documents?: number;
  /** Messages sent a second, evenly, whether or not the ones before are answered. Default 200. */
  readonly perSecond?: number;
  /** Before a snapshot, about, and behind it. Default 5. */
  readonly seconds?: number;
  /** Snapshots are written until so many writes fell into one. Default 2,000. */
  readonly writes?: number;
}

export interface Latencies {
  readonly writes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the service's event loop: the median of all snapshots. */
  readonly loop: Delays;
}

export interface SnapshotsReport {
  readonly documents: number;
  readonly snapshots: number;
  readonly snapshotBytes: number;
  /** The median of all. */
  readonly snapshotSeconds: number;
  readonly without: Latencies;
  readonly during: Latencies;
  /** p99 during a snapshot by p99 without; the goal is at most 2. */
  readonly ratio: number;
}

type Phase = 'before' | 'during' | 'after';

/** One snapshot: writes by whether it was being made when they were sent. */
interface Round {
  readonly without: readonly number[];
  readonly during: readonly number[];
  readonly seconds: number;
  readonly bytes: number;
  readonly loop: { readonly without: Delays; readonly during: Delays };
}

const DOCUMENT_BYTES = 1_500;
/** What the journal grows by for each message, at least. */
const MESSAGE_BYTES = 1_500;
const MAX_ROUNDS = 20;
/** The first snapshot behind the two that filling makes. */
const GENERATION = 4;

const latencies = (rounds: readonly Round[], of: 'without' | 'during'): Latencies => {
  const ms = rounds.flatMap((round) => round[of]);
  const middle = (delay: keyof Delays) => median(rounds.map(({ loop }) => loop[of][delay]));
  return {
    writes: ms.length,
    p50Ms: quantile(ms, 0.5),
    p99Ms: quantile(ms, 0.99),
    loop: {
      p99Ms: middle('p99Ms'),
      maxMs: middle('maxMs'),
      longestTurnMs: middle('longestTurnMs'),
    },
  };
};

/**
 * Sends messages at an even pace to a service that holds many documents, through a snapshot and on
 * behind it, again and again from the same store: what else the machine does then falls on both
 * kinds of writes alike.
 */
export async function measureSnapshots({
  documents = 100_000,
  perSecond = 200,
  seconds = 5,
  writes = 2_000,
}: SnapshotsOptions = {}): Promise<SnapshotsReport> {
  const filled = join(temporaryFolder(), 'data');
  const filler = startHelper('snapshotService.ts');
  await filler.ask<null>({
    do: 'fill',
    folder: filled,
    documents,
    documentBytes: DOCUMENT_BYTES,
  } satisfies SnapshotQuestion);
  await filler.stop();
  const rounds: Round[] = [];
  const count = () => rounds.reduce((sum, { during }) => sum + during.length, 0);
  while (count() < writes && rounds.length < MAX_ROUNDS)
    rounds.push(await measureOne(filled, perSecond, seconds));
  const report = { without: latencies(rounds, 'without'), during: latencies(rounds, 'during') };
  return {
    documents,
    snapshots: rounds.length,
    snapshotBytes: median(rounds.map(({ bytes }) => bytes)),
    snapshotSeconds: median(rounds.map((round) => round.seconds)),
    ...report,
    ratio: report.during.p99Ms / report.without.p99Ms,
  };
}

async function measureOne(filled: string, perSecond: number, seconds: number): Promise<Round> {
  const folder = join(temporaryFolder(), 'data');
  cpSync(filled, folder, { recursive: true });
  const helper = startHelper('snapshotService.ts');
  const url = await helper.ask<string>({
    do: 'start',
    folder,
    afterBytes: seconds * perSecond * MESSAGE_BYTES,
  } satisfies SnapshotQuestion);
  const pool = new Pool(url, { connections: 64 });
  try {
    return await sendThroughSnapshot(folder, pool, helper, perSecond, seconds);
  } finally {
    await pool.close();
    await helper.stop();
    rmSync(folder, { recursive: true });
  }
}

async function sendThroughSnapshot(
  folder: string,
  pool: Pool,
  helper: Helper,
  perSecond: number,
  seconds: number,
): Promise<Round> {
  const takeDelays = () => helper.ask<Delays>({ do: 'takeDelays' } satisfies SnapshotQuestion);
  const token = await newCustomer(pool);
  await warmUp(pool, token);
  await takeDelays();
  const [without, during]: [number[], number[]] = [[], []];
  const at: Partial<Record<Phase, number>> = {};
  const loop: Partial<Record<Phase, Promise<Delays>>> = {};
  const running = new Set<Promise<void>>();
  const startedAt = performance.now();
  for (let n = 0; at.after === undefined || performance.now() < at.after + seconds * 1000; n += 1) {
    if (n > 100 * perSecond * seconds)
      throw new Error('no snapshot was begun and finished in time');
    const dueAt = startedAt + (n * 1000) / perSecond;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueAt - performance.now())));
    const phase = phaseOf(folder);
    if (at[phase] === undefined) {
      at[phase] = performance.now();
      if (phase !== 'before') loop[phase === 'during' ? 'before' : 'during'] = takeDelays();
    }
    const one = write(pool, token, n, dueAt).then(
      (ms) => void (phase === 'during' ? during : without).push(ms),
    );
    running.add(one);
    void one.finally(() => running.delete(one));
  }
  await Promise.all(running);
  if (at.during === undefined) throw new Error('the snapshot was over before it was seen');
  const bytes = statSync(join(folder, `snapshot-${GENERATION}.ndjson`)).size;
  return {
    without,
    during,
    bytes,
    seconds: (at.after! - at.during) / 1000,
    loop: { without: (await loop.before)!, during: (await loop.during)! },
  };
}

/** A snapshot begins with the next journal and ends when the oldest files are removed. */
const phaseOf = (folder: string): Phase => {
  const names = readdirSync(folder);
  if (!names.includes(`journal-${GENERATION}.log`)) return 'before';
  return names.includes(`snapshot-${GENERATION}.ndjson`) &&
    !names.includes(`snapshot-${GENERATION - 2}.ndjson`)
    ? 'after'
    : 'during';
};

async function newCustomer(pool: Pool): Promise<string> {
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: '/api/chat/sessions',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  if (statusCode !== 201) throw new Error(`no chat session: ${await body.text()}`);
  return ((await body.json()) as { token: string }).token;
}

async function warmUp(pool: Pool, token: string): Promise<void> {
  for (let n = 0; n < 300; n += 1) await write(pool, token, -1 - n, performance.now());
}

/** @returns how long after its time it was answered: a client that waits counts the waiting too */
async function write(pool: Pool, token: string, n: number, dueAt: number): Promise<number> {
  const body = JSON.stringify({ text: `message ${n}`, client_message_id: `n${n}` });
  const answer = await pool.request({
    method: 'POST',
    path: '/api/chat/messages',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body,
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 202)
    throw new Error(`a message was answered ${answer.statusCode}: ${text}`);
  return performance.now() - dueAt;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.log(await measureSnapshots());
  process.exit(0);
}
