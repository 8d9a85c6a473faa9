// Signed deliveries a second of the running service, beside a bare undici loop that sends the same
// requests.
import { startHelper, startService, type RunningService } from './children.ts';
import { comparison, figuresOf, ratiosOf, scaled, type Effort, type Run } from './comparison.ts';
import { call, newCustomers, waitUntilRecorded, subscribe, writeMany } from './customers.ts';
import type { LoopQuestion, LoopReport } from './loop.ts';
import type { PartResult } from './report.ts';
import {
  emptyBacklog,
  lastRequest,
  runInto,
  startSink,
  type Sink,
  type Tls,
} from './sinkClient.ts';

/** Each with its own target path; the service opens up to 32 connections for each. */
export const SUBSCRIPTIONS = 8;
/** How many requests may be under way at once, on either side. */
export const CONCURRENCY = 256;
const DELIVERIES = 8000;
/** The bare loop is faster and sends more, so that its runs are not too short to measure. */
const BARE_CALLS = 16_000;

export const pathsOf = (subscriptions: number) =>
  Array.from({ length: subscriptions }, (_, i) => `/hooks/${i}`);

export interface DeliveryRig {
  readonly sink: Sink;
  /** Deliveries of one run. */
  readonly count: number;
  readonly bareCount: number;
  /** A run in which the service empties a backlog into the sink. */
  ours(): Promise<Run>;
  /** A run in which a bare loop sends body and headers of the last delivery again and again. */
  bare(): Promise<Run>;
  stop(): Promise<void>;
}

/** A service on the embedded store with subscriptions at a sink. */
export async function startDeliveryRig(
  tls: Tls,
  effort: Effort,
  subscriptions: number,
  profiles?: string,
): Promise<DeliveryRig> {
  const sink = await startSink(tls);
  const loop = startHelper('loop.ts');
  const service = await startService(tls.caFile, profiles);
  const subscribed = await subscribeAll(service, sink, subscriptions);
  const [count, bareCount] = [scaled(DELIVERIES, effort), scaled(BARE_CALLS, effort)];
  return {
    sink,
    count,
    bareCount,
    async ours() {
      await queueBacklog(subscribed, sink, count);
      await service.beginProfile();
      const run = await emptyBacklog(sink, count, [service.pid]);
      await service.endProfile('a delivery', count);
      await waitUntilRecorded(service, subscribed.hooks);
      return run;
    },
    async bare() {
      const question: Omit<LoopQuestion, 'count'> = {
        ...(await lastRequest(sink)),
        origin: sink.origin,
        ca: tls.ca,
        paths: pathsOf(subscriptions),
        connections: CONCURRENCY,
        expectedStatus: 200,
      };
      const send = async (calls: number) => {
        await sink.ask({ do: 'begin', status: 200 });
        return runInto(sink, calls, [loop.pid], () =>
          loop.ask<LoopReport>({ ...question, count: calls }),
        );
      };
      await send(bareCount / 8); // opens the connections
      return send(bareCount);
    },
    async stop() {
      await service.stop();
      for (const helper of [sink, loop]) await helper.stop();
    },
  };
}

/** A service, or one process of several, whose events go to the sink. */
export interface Subscribed {
  readonly service: RunningService;
  readonly customers: readonly string[];
  readonly hooks: readonly string[];
}

export async function subscribeAll(
  service: RunningService,
  sink: Sink,
  subscriptions: number,
): Promise<Subscribed> {
  const customers = await newCustomers(service);
  const hooks: string[] = [];
  for (const path of pathsOf(subscriptions))
    hooks.push(await subscribe(service, 'message.received', sink.origin + path));
  return { service, customers, hooks };
}

/**
 * Queues deliveries: customers write while the sink answers 400, which ends each delivery; then all
 * are recovered while the sink holds its answers. A run begins when the sink lets go.
 */
export async function queueBacklog(
  { service, customers, hooks }: Subscribed,
  sink: Sink,
  count: number,
): Promise<void> {
  const since = new Date().toISOString();
  await sink.ask({ do: 'begin', status: 400 });
  await writeMany(service, customers, count / hooks.length);
  await sink.ask({ do: 'await', count });
  await waitUntilRecorded(service, hooks);
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
  const rig = await startDeliveryRig(tls, effort, SUBSCRIPTIONS, profiles);
  const measured = comparison('Signed deliveries', 'a bare undici loop', {
    aSecond: { atLeast: 0.7 },
  });
  await rig.ours();
  await rig.bare();
  for (let round = 0; round < effort.rounds; round += 1) {
    measured.theirs.push(await rig.bare());
    measured.ours.push(await rig.ours());
  }
  const bodyBytes = Buffer.byteLength((await lastRequest(rig.sink)).body);
  await rig.stop();
  return {
    ratios: ratiosOf(measured),
    figures: figuresOf(measured),
    settings: [
      `Signed deliveries: ${rig.count} a run (bare ${rig.bareCount}), ${effort.rounds} rounds after a warm-up; ${SUBSCRIPTIONS} subscriptions, up to ${CONCURRENCY} open TLS connections on both sides, ` +
        `bodies of ${bodyBytes} bytes, counted at the receiver. ` +
        'The backlog is queued before, from a receiver that answered 400. Each attempt is signed by two schemes and its result recorded durably; the bare loop sends one recorded request again and again and keeps nothing.',
    ],
  };
}
