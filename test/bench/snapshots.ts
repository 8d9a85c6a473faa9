// How a snapshot of a large store slows the API's writes down.
import { cpSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SETTINGS, startHelper, temporaryFolder, type Helper } from './children.ts';
import type { Effort } from './comparison.ts';
import { newCustomer, write, writeMany } from './customers.ts';
import { round, spread, type PartResult } from './report.ts';
import type { Delays, SnapshotQuestion } from './snapshotService.ts';
import { median, quantile } from './statistics.ts';

const MIB = 2 ** 20;
/** Messages are sent evenly, whether or not earlier ones are answered. */
const WRITES_A_SECOND = 200;
/** How long messages are sent before a snapshot, about, and after it. */
const SECONDS = 5;
/** The journal grows by at least so much for each message. */
const MESSAGE_BYTES = 1_500;
/** The number of the first snapshot after those that filling makes. */
const GENERATION = 4;

type When = 'without' | 'during';
type Phase = 'before' | 'during' | 'after';

/** Writes during one snapshot, and before and after it. */
interface Snapshot {
  /** Milliseconds of each write, by whether the snapshot was being made when it was sent. */
  readonly ms: Readonly<Record<When, number[]>>;
  readonly seconds: number;
  readonly bytes: number;
  readonly loop: Readonly<Record<When, Delays>>;
}

/**
 * Sends messages at an even pace to a service that holds many documents: before, during and after a
 * snapshot, again and again from the same store. Whatever else the machine does slows writes with and
 * without a snapshot alike.
 */
export async function measureSnapshots(effort: Effort): Promise<PartResult> {
  const { documents, writes, runs } =
    effort.share === 1
      ? { documents: 100_000, writes: 2000, runs: 3 }
      : { documents: 20_000, writes: 400, runs: 1 };
  const filled = join(temporaryFolder(), 'data');
  const filler = startHelper('snapshotService.ts');
  await filler.ask({ do: 'fill', folder: filled, documents } satisfies SnapshotQuestion);
  await filler.stop();
  const measured: Snapshot[][] = [];
  for (let i = 0; i < runs; i += 1) {
    const snapshots: Snapshot[] = [];
    while (writesOf(snapshots, 'during').length < writes) snapshots.push(await measureOne(filled));
    measured.push(snapshots);
  }
  const at = (p: number, when: When) =>
    measured.map((snapshots) => quantile(writesOf(snapshots, when), p));
  const all = measured.flat();
  const delay = (of: keyof Delays, when: When) => all.map(({ loop }) => loop[when][of]);
  const ms = (values: readonly number[]) => `${round(median(values))} ms`;
  const without = at(0.99, 'without');
  return {
    ratios: [
      {
        name: 'API write during a snapshot, p99, to without',
        values: at(0.99, 'during').map((p99, i) => p99 / without[i]!),
        goal: { atMost: 2 },
        ours: ms(at(0.99, 'during')),
        beside: ms(without),
      },
    ],
    figures: [
      {
        name: 'During a snapshot: p50 of API writes, beside: without one',
        ours: ms(at(0.5, 'during')),
        beside: ms(at(0.5, 'without')),
      },
      {
        name: 'During a snapshot: event loop late by, p99, beside: without one',
        ours: ms(delay('p99Ms', 'during')),
        beside: ms(delay('p99Ms', 'without')),
      },
      {
        name: 'During a snapshot: longest computing without a break, beside: without one',
        ours: ms(delay('longestTurnMs', 'during')),
        beside: ms(delay('longestTurnMs', 'without')),
      },
      {
        name: 'During a snapshot: seconds that it takes',
        ours: spread(all.map(({ seconds }) => seconds)),
        beside: '',
      },
      {
        name: 'During a snapshot: its size, MiB',
        ours: round(median(all.map(({ bytes }) => bytes / MIB))),
        beside: '',
      },
    ],
    settings: [
      `Snapshots: chat messages at an even pace, with ${documents.toLocaleString('en-US')} documents stored and changed since the last snapshot, before, while and after one is written, until ${writes.toLocaleString('en-US')} writes fell into snapshots; ${runs} runs.`,
    ],
  };
}

const writesOf = (snapshots: readonly Snapshot[], when: When) =>
  snapshots.flatMap(({ ms }) => ms[when]);

async function measureOne(filled: string): Promise<Snapshot> {
  const folder = join(temporaryFolder(), 'data');
  cpSync(filled, folder, { recursive: true });
  const helper = startHelper('snapshotService.ts');
  const afterBytes = SECONDS * WRITES_A_SECOND * MESSAGE_BYTES;
  const url = await helper.ask<string>({
    do: 'start',
    folder,
    afterBytes,
  } satisfies SnapshotQuestion);
  try {
    return await sendThroughSnapshot(folder, url, helper);
  } finally {
    await helper.stop();
    rmSync(folder, { recursive: true });
  }
}

async function sendThroughSnapshot(folder: string, url: string, helper: Helper): Promise<Snapshot> {
  const takeDelays = () => helper.ask<Delays>({ do: 'takeDelays' } satisfies SnapshotQuestion);
  const api = { url, apiKey: SETTINGS.BOOTSTRAP_API_KEY };
  const customer = await newCustomer(api);
  await writeMany(api, [customer], 300); // warm-up
  await takeDelays();
  const ms: Record<When, number[]> = { without: [], during: [] };
  const at: Partial<Record<Phase, number>> = {};
  const loop: Partial<Record<When, Promise<Delays>>> = {};
  const running: Promise<unknown>[] = [];
  const startedAt = performance.now();
  for (let n = 0; at.after === undefined || performance.now() < at.after + SECONDS * 1000; n += 1) {
    if (n > 100 * WRITES_A_SECOND * SECONDS)
      throw new Error('no snapshot was begun and finished in time');
    const dueAt = startedAt + (n * 1000) / WRITES_A_SECOND;
    await sleep(Math.max(0, dueAt - performance.now()));
    const phase = phaseOf(folder);
    if (at[phase] === undefined) {
      at[phase] = performance.now();
      if (phase === 'during') loop.without = takeDelays();
      if (phase === 'after') loop.during = takeDelays();
    }
    // Since its turn came, not since it was sent: a write that is late has made its client wait.
    const written = write(api, customer).then(() =>
      ms[phase === 'during' ? 'during' : 'without'].push(performance.now() - dueAt),
    );
    written.catch(() => {}); // thrown below
    running.push(written);
  }
  await Promise.all(running);
  if (at.during === undefined) throw new Error('the snapshot was over before it was seen');
  return {
    ms,
    bytes: statSync(join(folder, `snapshot-${GENERATION}.ndjson`)).size,
    seconds: (at.after! - at.during) / 1000,
    loop: { without: (await loop.without)!, during: (await loop.during)! },
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
