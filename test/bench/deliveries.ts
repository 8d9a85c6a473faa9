// Signed deliveries a second of the running service, beside a bare undici loop that sends the same
// requests.
import { cpuSeconds, startHelper, startService, type RunningService } from './children.ts';
import { comparison, figuresOf, ratiosOf, scaled, type Effort, type Run } from './comparison.ts';
import { call, newCustomer, nothingPending, subscribe, writeMany } from './customers.ts';
import type { LoopQuestion, LoopReport } from './loop.ts';
import type { PartResult } from './report.ts';
import { atSink, headersOf, startSink, type Sink, type Tls } from './sinkClient.ts';

/** Each with its own target path; the service opens up to 32 connections for each. */
export const SUBSCRIPTIONS = 8;
const CONNECTIONS_PER_SUBSCRIPTION = 32;
/** How many requests are under way at once at the most, on either side. */
export const CONCURRENCY = SUBSCRIPTIONS * CONNECTIONS_PER_SUBSCRIPTION;
const DELIVERIES = 8000;
/** The bare loop is faster and sends more, so that its runs are not too short to measure. */
const BARE_CALLS = 16_000;
const CONVERSATIONS = 16;
export const PATHS = Array.from({ length: SUBSCRIPTIONS }, (_, i) => `/hooks/${i}`);

export interface DeliveryRig {
  readonly sink: Sink;
  /** Deliveries of one run. */
  readonly count: number;
  /** The service empties a backlog into the sink. */
  ours(): Promise<Run>;
  stop(): Promise<void>;
}

/** A service with eight subscriptions at one sink. */
export async function startDeliveryRig(
  tls: Tls,
  effort: Effort,
  profiles?: string,
): Promise<DeliveryRig> {
  const sink = await startSink(tls);
  const service = await startService(tls.caFile, profiles);
  const customers = await Promise.all(
    Array.from({ length: CONVERSATIONS }, () => newCustomer(service)),
  );
  const hooks: string[] = [];
  for (const path of PATHS)
    hooks.push(await subscribe(service, 'message.received', sink.origin + path));
  const count = scaled(DELIVERIES, effort);
  return {
    sink,
    count,
    async ours() {
      await queueBacklog(service, sink, customers, hooks, count);
      await service.beginProfile();
      const cpuBefore = cpuSeconds(service.pid);
      const before = await sink.report();
      await sink.ask({ do: 'release' });
      await sink.ask({ do: 'await', count });
      const cpu = cpuSeconds(service.pid) - cpuBefore;
      await service.endProfile('a delivery', count);
      await nothingPending(service, hooks);
      return atSink(before, await sink.report(), count, cpu);
    },
    async stop() {
      await service.stop();
      await sink.helper.stop();
    },
  };
}

/**
 * Customers write while the sink answers 400, which ends a delivery; then all of these are
 * recovered while the sink holds its answers. What is measured begins when it lets go.
 */
async function queueBacklog(
  service: RunningService,
  sink: Sink,
  customers: readonly string[],
  hooks: readonly string[],
  count: number,
): Promise<void> {
  const since = new Date().toISOString();
  await sink.ask({ do: 'begin', status: 400 });
  await writeMany(service, customers, count / SUBSCRIPTIONS);
  await sink.ask({ do: 'await', count });
  await nothingPending(service, hooks);
  await sink.ask({ do: 'begin', status: 200, hold: true });
  const recovered = await Promise.all(
    hooks.map((hook) =>
      call<{ redelivered: number }>(service, 'POST', `/api/hooks/${hook}/recover`, { since }),
    ),
  );
  const queued = recovered.reduce((sum, { redelivered }) => sum + redelivered, 0);
  if (queued !== count) throw new Error(`${queued} deliveries were queued instead of ${count}`);
}

export async function measureDeliveries(
  tls: Tls,
  effort: Effort,
  profiles?: string,
): Promise<PartResult> {
  const rig = await startDeliveryRig(tls, effort, profiles);
  const { sink, ours } = rig;
  const loop = startHelper('loop.ts');
  const bareCalls = scaled(BARE_CALLS, effort);

  /** The same bodies and headers as the last delivery that came, over as many connections. */
  const bare = async (): Promise<Run> => {
    const before = await sink.report();
    const again = {
      headers: headersOf(before),
      body: before.last!.body,
      origin: sink.origin,
      ca: tls.ca,
      paths: PATHS,
      connections: CONCURRENCY,
      expectedStatus: 200,
    };
    await sink.ask({ do: 'begin', status: 200 });
    // opens the connections
    await loop.ask<LoopReport>({ ...again, count: bareCalls / 8 } satisfies LoopQuestion);
    await sink.ask({ do: 'begin', status: 200 });
    const started = await sink.report();
    const cpuBefore = cpuSeconds(loop.pid);
    await loop.ask<LoopReport>({ ...again, count: bareCalls } satisfies LoopQuestion);
    return atSink(started, await sink.report(), bareCalls, cpuSeconds(loop.pid) - cpuBefore);
  };

  const measured = comparison('Signed deliveries', 'a bare undici loop', { atLeast: 0.7 });
  await ours();
  await bare();
  for (let round = 0; round < effort.rounds; round += 1) {
    measured.theirs.push(await bare());
    measured.ours.push(await ours());
  }
  const bodyBytes = Buffer.byteLength((await sink.report()).last!.body);
  await rig.stop();
  await loop.stop();
  return {
    ratios: ratiosOf(measured),
    figures: figuresOf(measured),
    settings: [
      `Signed deliveries: ${rig.count} a run (bare ${bareCalls}), ${effort.rounds} rounds after a warm-up; ${SUBSCRIPTIONS} subscriptions, up to ${CONCURRENCY} open TLS connections on both sides, ` +
        `bodies of ${bodyBytes} bytes, counted at the receiver. ` +
        'The backlog is queued before, from a receiver that answered 400. Each attempt is signed by two schemes and its result recorded durably; the bare loop sends one recorded request again and again and keeps nothing.',
    ],
  };
}
