/**
 * How much one bad subscriber costs the others, and what becomes of a burst at a slow receiver.
 * `node test/bench/fairness.ts` runs all of it, in about seven minutes; `npm run bench` calls the functions.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AddressInfo } from 'node:net';
import { makeTestCa, writeTlsFiles } from '../helpers/tls.ts';
import {
  cpuSeconds,
  removeAtEnd,
  startHelper,
  startService,
  type Helper,
  type RunningService,
} from './children.ts';
import { call, newCustomer, nothingPending, subscribe, write } from './customers.ts';
import { nowMs, type ReceiversQuestion, type ReceiversReport } from './receivers.ts';
import { median, quantile } from './statistics.ts';

const OTHERS = 24;
const CUSTOMERS = 16;
/** To each service. */
const WRITES_A_SECOND = 10;
const WRITERS = 16;
/** By the bad one, before it is bad: its limit has risen by then. */
const ANSWERED_FIRST = 500;
/** The goal: their p99 stays within twice their p99 without the bad one. */
const GOAL = 2;

/**
 *  `hang`: answers some hundred events, then nothing more. `fail`: then 500 at once. `refuse`: no server listens.
 */
export type Badness = 'hang' | 'fail' | 'refuse';

export interface FairnessOptions {
  readonly badness?: Badness;
  readonly rounds?: number;
  /** Of each round. */
  readonly seconds?: number;
  /** Events waiting for the bad subscriber when measuring begins. */
  readonly waiting?: number;
}

interface Times {
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU seconds of the service in each second. */
  readonly cpu: number;
}

export interface Fairness {
  readonly badness: Badness;
  /**
   * From a customer's message to its event at one of the other 24 receivers; medians of the rounds.
   */
  readonly without: Times;
  readonly with: Times;
  /** Of the p99s of each round; `median` is what counts. */
  readonly ratio: { readonly median: number; readonly least: number; readonly most: number };
  readonly goal: number;
}

/** A service and what of it is measured. */
interface Side {
  readonly name: 'without' | 'with';
  readonly service: RunningService;
  readonly customers: readonly string[];
}

/**
 * Measures the other 24 subscriptions of a workspace with and without one that is bad and has
 * 10,000 events waiting: two services side by side, written to in turn, so that whatever else the
 * machine does falls on both. Both have written the same before.
 */
export async function measureFairness({
  badness = 'hang',
  rounds = 5,
  seconds = 12,
  waiting = 10_000,
}: FairnessOptions = {}): Promise<Fairness> {
  const { tls, receivers, origin } = await startReceivers();
  const badTarget =
    badness === 'refuse' ? `https://localhost:${await closedPort()}/bad` : `${origin}/bad`;
  await receivers.ask({
    do: 'begin',
    goodFor: ANSWERED_FIRST,
    then: badness === 'hang' ? 'hang' : 'fail',
  } satisfies ReceiversQuestion);
  const sides = [await startSide('without', tls), await startSide('with', tls)];
  for (const { name, service, customers } of sides) {
    const hook = await subscribe(
      service,
      'message.sent',
      name === 'with' ? badTarget : `${origin}/good`,
    );
    await sendMany(service, await write(service, customers[0]!), waiting + ANSWERED_FIRST);
    if (name === 'without') await nothingPending(service, [hook]);
  }
  for (const { name, service } of sides)
    for (let i = 0; i < OTHERS; i += 1)
      await subscribe(service, 'message.received', `${origin}/ok/${name}/${i}`);
  await measureRound(sides, receivers, 3); // opens connections and lets limits rise

  const runs: Record<Side['name'], Times>[] = [];
  for (let round = 0; round < rounds; round += 1)
    runs.push(await measureRound(sides, receivers, seconds));
  for (const { service } of sides) await service.stop();
  const ratios = runs.map((run) => run.with.p99Ms / run.without.p99Ms);
  const middle = (side: Side['name']): Times => ({
    p50Ms: median(runs.map((run) => run[side].p50Ms)),
    p99Ms: median(runs.map((run) => run[side].p99Ms)),
    cpu: median(runs.map((run) => run[side].cpu)),
  });
  return {
    badness,
    without: middle('without'),
    with: middle('with'),
    ratio: { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) },
    goal: GOAL,
  };
}

export interface Burst {
  readonly events: number;
  readonly serviceMs: number;
  /** Until the last one was handled. */
  readonly seconds: number;
  readonly arrived: number;
  readonly twice: number;
  readonly timedOut: number;
}

/**
 * A thousand events at once for a receiver that handles one after the other, ten a second; the
 * time-out is the real one of 10 s.
 */
export async function measureBurst({ events = 1000, serviceMs = 100 } = {}): Promise<Burst> {
  const { tls, receivers, origin } = await startReceivers();
  const service = await startService(tls.caFile);
  await receivers.ask({ do: 'begin', slowMs: serviceMs } satisfies ReceiversQuestion);
  const conversation = await write(service, await newCustomer(service));
  const hook = await subscribe(service, 'message.sent', `${origin}/slow`);
  const startedAt = nowMs();
  await sendMany(service, conversation, events);
  await nothingPending(service, [hook], 3 * events * serviceMs + 60_000);
  const seconds = (nowMs() - startedAt) / 1000;
  const { slowEvents, slowGivenUp } = await receivers.ask<ReceiversReport>({
    do: 'report',
  } satisfies ReceiversQuestion);
  await service.stop();
  const arrived = new Set(slowEvents).size;
  return {
    events,
    serviceMs,
    seconds,
    arrived,
    twice: slowEvents.length - arrived,
    timedOut: slowGivenUp,
  };
}

interface Tls {
  readonly caFile: string;
}

async function startReceivers(): Promise<{ tls: Tls; receivers: Helper; origin: string }> {
  const testCa = await makeTestCa();
  const tls = await writeTlsFiles(testCa);
  removeAtEnd(tls.folder);
  const receivers = startHelper('receivers.ts');
  const port = await receivers.ask<number>({
    do: 'listen',
    certificate: testCa.server,
  } satisfies ReceiversQuestion);
  return { tls, receivers, origin: `https://localhost:${port}` };
}

async function startSide(name: Side['name'], { caFile }: Tls): Promise<Side> {
  const service = await startService(caFile);
  return {
    name,
    service,
    customers: await Promise.all(Array.from({ length: CUSTOMERS }, () => newCustomer(service))),
  };
}

/** Customers write at a steady pace, whatever the services do. */
async function measureRound(
  sides: readonly Side[],
  receivers: Helper,
  seconds: number,
): Promise<Record<Side['name'], Times>> {
  const report = async () =>
    (await receivers.ask<ReceiversReport>({ do: 'report' } satisfies ReceiversQuestion))
      .latenciesMs;
  const before = await report();
  const cpuBefore = sides.map(({ service }) => cpuSeconds(service.pid));
  const count = seconds * WRITES_A_SECOND;
  const startedAt = nowMs();
  const written: Promise<unknown>[] = [];
  for (let i = 0; i < count; i += 1) {
    for (const [turn, { service, customers }] of sides.entries()) {
      await sleep(
        Math.max(0, startedAt + ((i + turn / sides.length) * 1000) / WRITES_A_SECOND - nowMs()),
      );
      const message = {
        text: `Hello, this was sent at ${nowMs()} by the bench`,
        client_message_id: randomUUID(),
      };
      written.push(
        call(service, 'POST', '/api/chat/messages', message, customers[i % customers.length]!),
      );
    }
  }
  await Promise.all(written);
  const elapsedSeconds = (nowMs() - startedAt) / 1000;
  const cpu = sides.map(
    ({ service }, side) => (cpuSeconds(service.pid) - cpuBefore[side]!) / elapsedSeconds,
  );
  const times: [Side['name'], Times][] = [];
  for (const [side, { name }] of sides.entries()) {
    const done = before[name]?.length ?? 0;
    const these = await waitForAll(
      async () => (await report())[name]?.slice(done) ?? [],
      count * OTHERS,
      name,
    );
    times.push([
      name,
      { p50Ms: quantile(these, 0.5), p99Ms: quantile(these, 0.99), cpu: cpu[side]! },
    ]);
  }
  return Object.fromEntries(times) as Record<Side['name'], Times>;
}

async function waitForAll(
  read: () => Promise<readonly number[]>,
  count: number,
  side: string,
): Promise<readonly number[]> {
  for (const giveUpAt = nowMs() + 30_000; ; await sleep(50)) {
    const these = await read();
    if (these.length >= count) return these;
    if (nowMs() > giveUpAt)
      throw new Error(
        `${these.length} of ${count} events arrived at the service ${side} the bad subscriber`,
      );
  }
}

/** Messages of the team: other events than the customers' own. */
async function sendMany(
  service: RunningService,
  conversation: string,
  count: number,
): Promise<void> {
  let sent = 0;
  const sendOnAndOn = async () => {
    while (sent++ < count)
      await call(service, 'POST', `/api/conversations/${conversation}/messages`, {
        text: 'An answer.',
      });
  };
  await Promise.all(Array.from({ length: WRITERS }, sendOnAndOn));
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

if (import.meta.main) {
  const wants = (part: string) => process.argv.length < 3 || process.argv.includes(part);
  for (const badness of ['hang', 'fail', 'refuse'] as const)
    if (wants(badness)) console.log(await measureFairness({ badness }));
  if (wants('burst')) console.log(await measureBurst());
  process.exit();
}
