/**
 * `npm run bench`: how much of bare speed the service keeps, measured on this machine in about three minutes.
 *
 * 1. Signed deliveries a second of the running service to a local TLS sink, beside a bare undici loop.
 * 2. `POST /api/conversations/{id}/messages` beside a bare Express route.
 * 3. The team's list and thread with 10,000 conversations of 50 messages stored, beside a small store.
 *
 * Ours and the bare program take turns, so that whatever else the machine does falls on both; the
 * ratios are of neighbouring runs, and their median and spread is what counts. On a machine that is
 * busy with other things, or where the client and the sink need the cores themselves, the ratio of
 * CPU time is the one to trust: it does not rise because the bare program was held up.
 *
 * `-- deliveries`, `-- messages` or `-- screens` runs one part; `-- --profile` also writes CPU profiles of the service.
 */
import { mkdtempSync, openSync, closeSync, fdatasyncSync, readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { makeTestCa, writeTlsFiles } from '../helpers/tls.ts';
import { cpuSeconds, removeAtEnd, startHelper, startService, temporaryFolder, type Helper, type RunningService } from './children.ts';
import { MESSAGE_TEXT, call, newCustomer, nothingPending, subscribe, write, writeMany } from './customers.ts';
import type { LoopQuestion, LoopReport } from './loop.ts';
import type { SinkQuestion, SinkReport } from './sink.ts';
import { measureScreens, printScreens } from './screens.ts';
import { median } from './statistics.ts';

const ROUNDS = 5;
/** Each with its own target path; the service opens up to 32 connections for each. */
const SUBSCRIPTIONS = 8;
const CONNECTIONS_PER_SUBSCRIPTION = 32;
const DELIVERIES = 8000;
const CONVERSATIONS = 16;
const API_CONNECTIONS = 32;
const API_CALLS = 5000;
/** The bare programs are faster and send more, so that their runs are not too short to measure. */
const BARE_CALLS = 16_000;
const GIVE_UP_MS = 300_000;

const CPU_EACH = 'CPU µs each';

/** What one run came to. */
interface Run {
  readonly perSecond: number;
  readonly details: Readonly<Record<string, number>>;
}

/** One comparison: neighbouring runs of the bare program and of ours. */
interface Comparison {
  readonly name: string;
  readonly goal: number;
  readonly bare: Run[];
  readonly ours: Run[];
}

const comparison = (name: string, goal: number): Comparison => ({ name, goal, bare: [], ours: [] });

const askSink = <Answer = null>(sink: Helper, question: SinkQuestion) => sink.ask<Answer>(question);

async function measureDeliveries(tls: Tls, profiles?: string): Promise<Comparison[]> {
  const { sink, origin } = await startSink(tls);
  const loop = startHelper('loop.ts');
  const service = await startService(tls.caFile, profiles);
  const customers = await Promise.all(Array.from({ length: CONVERSATIONS }, () => newCustomer(service)));
  const paths = Array.from({ length: SUBSCRIPTIONS }, (_, i) => `/hooks/${i}`);
  const hooks: string[] = [];
  for (const path of paths) hooks.push(await subscribe(service, 'message.received', origin + path));

  const ours = async (): Promise<Run> => {
    await queueBacklog(service, sink, customers, hooks);
    await service.toggleProfile();
    const cpuBefore = cpuSeconds(service.pid);
    const before = await askSink<SinkReport>(sink, { do: 'report' });
    await askSink(sink, { do: 'release' });
    await askSink(sink, { do: 'await', count: DELIVERIES });
    const cpu = cpuSeconds(service.pid) - cpuBefore;
    await service.toggleProfile();
    await nothingPending(service, hooks);
    return atSink(before, await askSink(sink, { do: 'report' }), DELIVERIES, cpu);
  };

  /** The same bodies and headers as the last delivery that came, over as many connections. */
  const bare = async (): Promise<Run> => {
    const before = await askSink<SinkReport>(sink, { do: 'report' });
    const again = { ...requestOf(before), origin, ca: tls.ca, paths, connections: SUBSCRIPTIONS * CONNECTIONS_PER_SUBSCRIPTION, expectedStatus: 200 };
    await askSink(sink, { do: 'begin', status: 200 });
    await loop.ask<LoopReport>({ ...again, count: BARE_CALLS / 8 } satisfies LoopQuestion); // opens the connections
    await askSink(sink, { do: 'begin', status: 200 });
    const started = await askSink<SinkReport>(sink, { do: 'report' });
    const cpuBefore = cpuSeconds(loop.pid);
    await loop.ask<LoopReport>({ ...again, count: BARE_CALLS } satisfies LoopQuestion);
    return atSink(started, await askSink(sink, { do: 'report' }), BARE_CALLS, cpuSeconds(loop.pid) - cpuBefore);
  };

  const measured = comparison('signed deliveries', 0.6);
  await ours();
  await bare();
  for (let round = 0; round < ROUNDS; round += 1) {
    measured.bare.push(await bare());
    measured.ours.push(await ours());
  }
  await service.stop();
  return [measured];
}

/**
 * Customers write while the sink answers 400, which ends a delivery; then all of these are recovered
 * while the sink holds its answers. What is measured begins when it lets go.
 */
async function queueBacklog(service: RunningService, sink: Helper, customers: readonly string[], hooks: readonly string[]): Promise<void> {
  const since = new Date().toISOString();
  await askSink(sink, { do: 'begin', status: 400 });
  await writeMany(service, customers, DELIVERIES / SUBSCRIPTIONS);
  await askSink(sink, { do: 'await', count: DELIVERIES });
  await nothingPending(service, hooks);
  await askSink(sink, { do: 'begin', status: 200, hold: true });
  const recovered = await Promise.all(hooks.map((hook) => call<{ redelivered: number }>(service, 'POST', `/api/hooks/${hook}/recover`, { since })));
  const queued = recovered.reduce((sum, { redelivered }) => sum + redelivered, 0);
  if (queued !== DELIVERIES) throw new Error(`${queued} deliveries were queued instead of ${DELIVERIES}`);
}

function requestOf({ last }: SinkReport): Pick<LoopQuestion, 'headers' | 'body'> {
  const { rawHeaders, body } = last!;
  const headers: Record<string, string> = {};
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    if (!['host', 'connection', 'content-length'].includes(name)) headers[name] = rawHeaders[i + 1]!;
  }
  return { headers, body };
}

function atSink(before: SinkReport, after: SinkReport, expected: number, senderCpuSeconds: number): Run {
  if (after.received !== expected) throw new Error(`the sink received ${after.received} requests instead of ${expected}`);
  return {
    perSecond: after.counted / after.seconds,
    details: {
      [CPU_EACH]: (senderCpuSeconds / after.counted) * 1e6,
      'sink CPU µs each': ((after.cpuSeconds - before.cpuSeconds) / after.counted) * 1e6,
      'gap p99 ms': after.p99GapMs,
      'longest gap ms': after.longestGapMs,
      'body bytes': Buffer.byteLength(after.last!.body),
    },
  };
}

async function measureMessages(tls: Tls, profiles?: string): Promise<Comparison[]> {
  const { sink, origin } = await startSink(tls);
  await askSink(sink, { do: 'begin', status: 200 });
  const loop = startHelper('loop.ts');
  const service = await startService(tls.caFile, profiles);
  const conversations = await Promise.all(Array.from({ length: CONVERSATIONS }, async () => write(service, await newCustomer(service))));
  const request = {
    paths: conversations.map((id) => `/api/conversations/${id}/messages`),
    headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text: MESSAGE_TEXT }),
    connections: API_CONNECTIONS,
    expectedStatus: 201,
  };
  const load = async (target: string, pid: number, count: number): Promise<Run & { answer: string }> => {
    const cpuBefore = cpuSeconds(pid);
    const { perSecond, p50Ms, p99Ms, answer } = await loop.ask<LoopReport>({ ...request, origin: target, count } satisfies LoopQuestion);
    const cpu = cpuSeconds(pid) - cpuBefore;
    return { perSecond, answer, details: { 'p50 ms': p50Ms, 'p99 ms': p99Ms, [CPU_EACH]: (cpu / count) * 1e6, 'answer bytes': Buffer.byteLength(answer) } };
  };

  const ours = async (count = API_CALLS): Promise<Run & { answer: string }> => {
    await service.toggleProfile();
    const run = await load(service.url, service.pid, count);
    await service.toggleProfile();
    return run;
  };
  /** The deliveries go out meanwhile, to the sink, on the same cores. */
  const oursSubscribed = async (count = API_CALLS): Promise<Run> => {
    const hook = await subscribe(service, 'message.sent', `${origin}/hooks/0`);
    const run = await ours(count);
    await nothingPending(service, [hook]);
    await call(service, 'DELETE', `/api/hooks/${hook}`);
    return run;
  };

  const { answer } = await ours(API_CALLS / 2);
  await oursSubscribed(API_CALLS / 2);
  const express = startHelper('bareExpress.ts');
  const expressOrigin = `http://127.0.0.1:${await express.ask<number>({ answer })}`;
  const bare = () => load(expressOrigin, express.pid, BARE_CALLS);
  await bare();

  const alone = comparison('messages, no subscription', 0.5);
  const subscribed = comparison('messages, one subscription', 0.5);
  for (let round = 0; round < ROUNDS; round += 1) {
    alone.bare.push(await bare());
    alone.ours.push(await ours());
    subscribed.bare.push(await bare());
    subscribed.ours.push(await oursSubscribed());
  }
  await service.stop();
  return [alone, subscribed];
}

interface Tls {
  readonly ca: string;
  readonly caFile: string;
  readonly server: { key: string; cert: string };
}

async function startSink({ server }: Tls): Promise<{ sink: Helper; origin: string }> {
  const sink = startHelper('sink.ts');
  const port = await askSink<number>(sink, { do: 'listen', certificate: server });
  return { sink, origin: `https://localhost:${port}` };
}

/** A small append and its fdatasync: what one durable write costs here at the least. */
function fdatasyncMs(): number {
  const file = openSync(join(temporaryFolder(), 'probe'), 'w');
  const times = Array.from({ length: 100 }, () => {
    const startedAt = performance.now();
    writeSync(file, 'x'.repeat(4096));
    fdatasyncSync(file);
    return performance.now() - startedAt;
  });
  closeSync(file);
  return median(times);
}

const round = (value: number) => (value >= 100 ? value.toFixed(0) : value.toFixed(2));
const spread = (values: readonly number[]) => `${round(median(values))} (${round(Math.min(...values))} to ${round(Math.max(...values))})`;
const row = (name: string, ...cells: string[]) => console.log(name.padEnd(30) + cells.map((cell) => cell.padEnd(26)).join(''));

function print(comparisons: readonly Comparison[]): void {
  console.log('\nRatio to the bare program: median of neighbouring runs (least to most)');
  row('', 'a second', 'CPU time each', 'goal (a second)');
  for (const { name, goal, bare, ours } of comparisons) {
    const ratios = ours.map(({ perSecond }, i) => perSecond / bare[i]!.perSecond);
    const cpuRatios = ours.map(({ details }, i) => bare[i]!.details[CPU_EACH]! / details[CPU_EACH]!);
    row(name, spread(ratios), spread(cpuRatios), `${median(ratios) >= goal ? 'reached' : 'MISSED'}: ${goal}`);
  }
  for (const { name, bare, ours } of comparisons) {
    console.log();
    row(name, 'ours', 'bare');
    row('  a second', ...[ours, bare].map((runs) => spread(runs.map(({ perSecond }) => perSecond))));
    for (const detail of Object.keys(ours[0]!.details)) {
      row(`  ${detail}`, ...[ours, bare].map((runs) => spread(runs.map(({ details }) => details[detail]!))));
    }
  }
}

function printSettings(): void {
  const version = (name: string) => (JSON.parse(readFileSync(createRequire(import.meta.url).resolve(`${name}/package.json`), 'utf8')) as { version: string }).version;
  console.log(`${cpus()[0]?.model ?? 'unknown CPU'}, ${availableParallelism()} cores, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, ${process.platform} ${process.arch}`);
  console.log(`Node ${process.version}, undici ${version('undici')}, express ${version('express')}; fdatasync of 4 KiB in the temporary folder: ${round(fdatasyncMs())} ms`);
  console.log(
    `Deliveries: ${DELIVERIES} a run (bare ${BARE_CALLS}), ${SUBSCRIPTIONS} target paths, ${SUBSCRIPTIONS * CONNECTIONS_PER_SUBSCRIPTION} open TLS connections on both sides, counted at the sink; ` +
      'the backlog is queued before, from a sink that answered 400.',
  );
  console.log(`Messages: ${API_CALLS} a run (bare ${BARE_CALLS}) over ${API_CONNECTIONS} connections to ${CONVERSATIONS} conversations; the same undici loop calls both servers.`);
  console.log(`${ROUNDS} rounds, bare and ours in turn, after a warm-up; each program is a process of its own, all on these cores.`);
}

async function main(): Promise<void> {
  setTimeout(() => {
    console.error('The bench takes too long and is given up.');
    process.exit(1);
  }, GIVE_UP_MS).unref();
  const wants = (part: string) => process.argv.includes(part) || !['deliveries', 'messages', 'screens'].some((each) => process.argv.includes(each));
  const profiles = process.argv.includes('--profile') ? mkdtempSync(join(tmpdir(), 'conversation-service-profiles-')) : undefined;

  printSettings();
  const testCa = await makeTestCa();
  const { folder, caFile } = await writeTlsFiles(testCa);
  removeAtEnd(folder);
  const tls = { ...testCa, caFile };
  const comparisons = [...(wants('deliveries') ? await measureDeliveries(tls, profiles) : []), ...(wants('messages') ? await measureMessages(tls, profiles) : [])];
  if (comparisons.length > 0) print(comparisons);
  if (wants('screens')) printScreens(await measureScreens(caFile));
  if (profiles !== undefined) console.log(`\nCPU profiles of the measured runs, for Chrome's DevTools: ${profiles}`);
}

await main();
process.exit();
