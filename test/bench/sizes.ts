// The cost of an event, and of a start, with little and with much stored.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { residentBytes, startHelper, startService, temporaryFolder } from './children.ts';
import { scaled, type Effort } from './comparison.ts';
import { runEvents, startEvents, type EventSource } from './events.ts';
import { DOCUMENTS_PER_CONVERSATION, type FillQuestion } from './fillStore.ts';
import { round, spread, type Figure, type PartResult, type Ratio } from './report.ts';
import { startSink, type Sink, type Tls } from './sinkClient.ts';
import { median } from './statistics.ts';

const SIZES = [1000, 100_000, 1_000_000];
const EVENTS = 4000;
const START_WITHIN_MS = 180_000;
/** The goal: an event costs at most 1.2 times as much with more stored. */
const GOAL = { atMost: 1.2 };
/** The goals of a start with a million documents stored. */
const START = { seconds: 5, mib: 800 };
const MIB = 2 ** 20;
const SNAPSHOT = /^snapshot-\d+\.ndjson$/;
const JOURNAL = /^journal-\d+\.log$/;

/** A service on a store of one size, with what its start took. */
interface Sized extends EventSource {
  readonly documents: number;
  readonly fillSeconds: number;
  readonly residentMib: number;
  readonly snapshotMib: number;
  readonly journalMib: number;
  /** CPU and wall microseconds of an event, a value for each round. */
  readonly cpu: number[];
  readonly wall: number[];
}

/**
 * Services of all sizes run at once and take turns, so that whatever else the machine does slows
 * them all.
 */
export async function measureSizes(tls: Tls, effort: Effort): Promise<PartResult> {
  const sink = await startSink(tls);
  const sizes: Sized[] = [];
  const missing: { name: string; why: string }[] = [];
  for (const wanted of SIZES) {
    const documents = wanted === SIZES[0] ? wanted : scaled(wanted, effort);
    try {
      sizes.push(await startSized(tls, sink, documents));
    } catch (error) {
      missing.push({
        name: `Cost of an event with ${formatted(documents)} stored`,
        why: (error as Error).message.slice(-300),
      });
    }
  }
  const events = scaled(EVENTS, effort);
  // Opens connections, and lets limits rise.
  for (const each of sizes) await runEvents(each, sink, events / 2);
  for (let i = 0; i < effort.rounds; i += 1) {
    // Each round begins with another size, so that none is always first.
    for (let place = 0; place < sizes.length; place += 1) {
      const each = sizes[(i + place) % sizes.length]!;
      const { wall, cpu } = await runEvents(each, sink, events);
      each.wall.push(wall);
      each.cpu.push(cpu);
    }
  }
  const afterwards = sizes.map(({ service }) => residentBytes(service.pid) / MIB);
  for (const { service } of sizes) await service.stop();
  await sink.stop();
  return {
    ratios: ratios(sizes),
    figures: sizes.flatMap((each, i) => figures(each, afterwards[i]!)),
    missing,
    settings: [
      `Sizes: an event is a customer's message over the API with its one signed delivery, received and recorded; ${events} a run, ${effort.rounds} rounds in turn. ` +
        `The stores are filled through the store itself with closed conversations of ${DOCUMENTS_PER_CONVERSATION} documents each (contact, conversation, messages, events, deliveries), ` +
        'all of one workspace and one subscription. Start-up is from the start of the process until /readyz answers 200; Node runs without flags.',
    ],
  };
}

async function startSized(tls: Tls, sink: Sink, documents: number): Promise<Sized> {
  console.log(`  filling a store with ${formatted(documents)} documents`);
  const folder = temporaryFolder();
  const first = await startService(tls.caFile, undefined, { folder });
  const { hook, customers } = await startEvents(first, sink, documents);
  await first.stop();

  const filler = startHelper('fillStore.ts', ['--max-old-space-size=8192']);
  const startedAt = performance.now();
  const filled = await filler.ask<number>({
    folder: join(folder, 'data'),
    documents,
    subscriptionId: hook,
  } satisfies FillQuestion);
  const fillSeconds = (performance.now() - startedAt) / 1000;
  await filler.stop();

  console.log(`  starting a service on ${formatted(filled)} documents`);
  const { snapshot, journal } = readAtStart(folder);
  const service = await startService(tls.caFile, undefined, {
    folder,
    startWithinMs: START_WITHIN_MS,
  });
  return {
    documents: filled,
    service,
    hook,
    customers,
    fillSeconds,
    residentMib: residentBytes(service.pid) / MIB,
    snapshotMib: snapshot / MIB,
    journalMib: journal / MIB,
    cpu: [],
    wall: [],
  };
}

/**
 * Bytes that a start reads: the newest snapshot, and the journals since it. Their names carry
 * generations.
 */
function readAtStart(folder: string): { snapshot: number; journal: number } {
  const data = join(folder, 'data');
  const files = readdirSync(data).map((name) => ({
    name,
    generation: Number(/\d+/.exec(name)?.[0] ?? 0),
  }));
  const newest = Math.max(
    0,
    ...files.filter(({ name }) => SNAPSHOT.test(name)).map(({ generation }) => generation),
  );
  const bytes = (wanted: RegExp) =>
    files
      .filter(({ name, generation }) => wanted.test(name) && generation >= newest)
      .reduce((sum, { name }) => sum + statSync(join(data, name)).size, 0);
  return { snapshot: bytes(SNAPSHOT), journal: bytes(JOURNAL) };
}

const formatted = (value: number) => value.toLocaleString('en-US');

/** The larger stores to the smallest, by CPU and by wall time of neighbouring runs. */
function ratios([smallest, ...larger]: readonly Sized[]): Ratio[] {
  if (smallest === undefined) return [];
  const pair = (each: Sized, of: 'cpu' | 'wall', what: string): Ratio => ({
    name: `${what} of an event with ${formatted(each.documents)} stored, to ${formatted(smallest.documents)}`,
    values: each[of].map((value, i) => value / smallest[of][i]!),
    goal: GOAL,
    ours: `${round(median(each[of]))} µs`,
    beside: `${round(median(smallest[of]))} µs`,
  });
  const start = (each: Sized, what: string, value: number, goal: number, unit: string): Ratio => ({
    name: `${what} with ${formatted(each.documents)} stored, to the goal of ${goal} ${unit}`,
    values: [value / goal],
    goal: { atMost: 1 },
    ours: `${round(value)} ${unit}`,
    beside: '',
  });
  return [
    ...larger.flatMap((each) => [pair(each, 'cpu', 'CPU time'), pair(each, 'wall', 'Wall time')]),
    ...larger
      .slice(-1)
      .flatMap((each) => [
        start(each, 'A start', each.service.startMs / 1000, START.seconds, 's'),
        start(each, 'Memory after a start', each.residentMib, START.mib, 'MiB'),
      ]),
  ];
}

const figures = (each: Sized, residentAfterwards: number): Figure[] =>
  (
    [
      ['CPU µs of an event', spread(each.cpu)],
      ['wall µs of an event', spread(each.wall)],
      ['start-up, seconds', round(each.service.startMs / 1000)],
      ['resident memory after the start, MiB', round(each.residentMib)],
      ['resident memory after the runs, MiB', round(residentAfterwards)],
      ['snapshot at the start, MiB', round(each.snapshotMib)],
      ['journal at the start, MiB', round(each.journalMib)],
      ['filling, seconds', round(each.fillSeconds)],
    ] as const
  ).map(([name, ours]) => ({
    name: `With ${formatted(each.documents)} stored: ${name}`,
    ours,
    beside: '',
  }));
