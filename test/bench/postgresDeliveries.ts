// Signed deliveries of several worker processes that share a PostgreSQL server, beside the embedded
// store and a bare undici loop.
import { cpuSeconds, startHelper, startService, type RunningService } from './children.ts';
import { CPU_EACH, scaled, type Effort, type Run } from './comparison.ts';
import { call, newCustomer, nothingPending, subscribe, writeMany } from './customers.ts';
import type { LoopQuestion, LoopReport } from './loop.ts';
import { startOnServer, type BenchServer } from './postgresServer.ts';
import { atSink, headersOf, startSink, type Sink, type Tls } from './sinkClient.ts';

/** Each is served by one worker at a time. */
export const SUBSCRIPTIONS = 16;
export const WORKERS = [1, 2, 4] as const;
const CONNECTIONS = 256;
const DELIVERIES = 8000;
const BARE_CALLS = 16_000;
const CONVERSATIONS = 16;
const SCHEMA = 'bench_deliveries';
const SETTLED_WITHIN_MS = 60_000;
const PATHS = Array.from({ length: SUBSCRIPTIONS }, (_, i) => `/hooks/${i}`);

/** CPU time of a delivery, in microseconds, by what used it. */
export const CPU_OF = {
  workers: 'CPU µs of the workers',
  api: 'CPU µs of the API process',
  postgres: 'CPU µs of PostgreSQL',
} as const;
export const STATEMENTS_EACH = 'statements each';
export const BUFFERS_EACH = 'pages each';

export interface ClusterRun extends Run {
  /** What each worker delivered, the busiest first; as parts of all. */
  readonly parts: readonly number[];
}

export interface DeliveryRuns {
  readonly count: number;
  readonly bodyBytes: number;
  readonly bare: readonly Run[];
  readonly embedded: readonly Run[];
  /** By how many workers there were. */
  readonly workers: ReadonlyMap<number, readonly ClusterRun[]>;
}

/** A service, or one process of several, that is asked for deliveries. */
interface RunningApi {
  readonly api: RunningService;
  readonly customers: readonly string[];
  readonly hooks: readonly string[];
}

export async function runDeliveries(
  server: BenchServer,
  tls: Tls,
  effort: Effort,
  profiles?: string,
): Promise<DeliveryRuns> {
  const sink = await startSink(tls);
  const loop = startHelper('loop.ts');
  const count = scaled(DELIVERIES, effort);
  const embedded = await setUp(await startService(tls.caFile), sink);
  const cluster = await setUp(await startOnServer(server, SCHEMA, 'api', tls.caFile), sink);
  const workers: RunningService[] = [];
  const runs = {
    bare: [] as Run[],
    embedded: [] as Run[],
    workers: new Map<number, ClusterRun[]>(WORKERS.map((n) => [n, []])),
  };

  const bareRun = async (calls: number): Promise<Run> => {
    const before = await sink.report();
    const again = {
      headers: headersOf(before),
      body: before.last!.body,
      origin: sink.origin,
      ca: tls.ca,
      paths: PATHS,
      connections: CONNECTIONS,
      expectedStatus: 200,
    };
    await sink.ask({ do: 'begin', status: 200 });
    const started = await sink.report();
    const cpuBefore = cpuSeconds(loop.pid);
    await loop.ask<LoopReport>({ ...again, count: calls } satisfies LoopQuestion);
    return atSink(started, await sink.report(), calls, cpuSeconds(loop.pid) - cpuBefore);
  };
  const employ = async (wanted: number) => {
    const added = Math.max(0, wanted - workers.length);
    workers.push(
      ...(await Promise.all(
        Array.from({ length: added }, () =>
          startOnServer(server, SCHEMA, 'worker', tls.caFile, profiles),
        ),
      )),
    );
    await Promise.all(workers.splice(wanted).map((worker) => worker.stop()));
  };
  const clusterRun = async (): Promise<ClusterRun> => {
    await queueBacklog(cluster, sink, count);
    const [attemptsBefore, workBefore] = [
      await Promise.all(workers.map(attemptsOf)),
      await server.work(),
    ];
    const cpuBefore = { workers: totalCpu(workers), api: cpuSeconds(cluster.api.pid) };
    await Promise.all(workers.map((worker) => worker.beginProfile()));
    const run = await emptyBacklog(sink, count);
    const share = Math.round(count / workers.length);
    const what = `a delivery, ${workers.length} workers`;
    await Promise.all(workers.map((worker) => worker.endProfile(what, share)));
    await nothingPending(cluster.api, cluster.hooks, SETTLED_WITHIN_MS);
    const workAfter = await server.work();
    const cpu = {
      workers: totalCpu(workers) - cpuBefore.workers,
      api: cpuSeconds(cluster.api.pid) - cpuBefore.api,
      postgres: workAfter.cpuSeconds - workBefore.cpuSeconds,
    };
    const attempts = (await Promise.all(workers.map(attemptsOf))).map(
      (after, i) => after - attemptsBefore[i]!,
    );
    const each = (seconds: number) => (seconds / count) * 1e6;
    return {
      perSecond: run.perSecond,
      details: {
        ...run.details,
        [CPU_EACH]: each(cpu.workers + cpu.api + cpu.postgres),
        [CPU_OF.workers]: each(cpu.workers),
        [CPU_OF.api]: each(cpu.api),
        [CPU_OF.postgres]: each(cpu.postgres),
        [STATEMENTS_EACH]: (workAfter.statements - workBefore.statements) / count,
        [BUFFERS_EACH]: (workAfter.buffers - workBefore.buffers) / count,
      },
      parts: attempts
        .map(
          (done) =>
            done /
            Math.max(
              1,
              attempts.reduce((a, b) => a + b),
            ),
        )
        .sort((a, b) => b - a),
    };
  };
  const embeddedRun = async (): Promise<Run> => {
    await queueBacklog(embedded, sink, count);
    const cpuBefore = cpuSeconds(embedded.api.pid);
    const run = await emptyBacklog(sink, count);
    await nothingPending(embedded.api, embedded.hooks, SETTLED_WITHIN_MS);
    return {
      ...run,
      details: {
        ...run.details,
        [CPU_EACH]: ((cpuSeconds(embedded.api.pid) - cpuBefore) / count) * 1e6,
      },
    };
  };

  await embeddedRun();
  await bareRun(scaled(BARE_CALLS / 8, effort));
  for (let round = 0; round < effort.rounds; round += 1) {
    runs.bare.push(await bareRun(scaled(BARE_CALLS, effort)));
    runs.embedded.push(await embeddedRun());
    // Up, then down: few are started anew.
    for (const n of round % 2 === 0 ? WORKERS : WORKERS.toReversed()) {
      await employ(n);
      runs.workers.get(n)!.push(await clusterRun());
    }
  }
  const bodyBytes = Buffer.byteLength((await sink.report()).last!.body);
  await Promise.all([...workers, embedded.api, cluster.api].map((service) => service.stop()));
  for (const helper of [sink.helper, loop]) await helper.stop();
  return { count, bodyBytes, ...runs };
}

async function setUp(api: RunningService, sink: Sink): Promise<RunningApi> {
  const customers = await Promise.all(
    Array.from({ length: CONVERSATIONS }, () => newCustomer(api)),
  );
  const hooks: string[] = [];
  for (const path of PATHS)
    hooks.push(await subscribe(api, 'message.received', sink.origin + path));
  return { api, customers, hooks };
}

/**
 * Events are refused with a 400, which ends their deliveries; then all are recovered while the sink
 * holds its answers.
 */
async function queueBacklog(
  { api, customers, hooks }: RunningApi,
  sink: Sink,
  count: number,
): Promise<void> {
  const since = new Date().toISOString();
  await sink.ask({ do: 'begin', status: 400 });
  await writeMany(api, customers, count / SUBSCRIPTIONS);
  await sink.ask({ do: 'await', count });
  await nothingPending(api, hooks, SETTLED_WITHIN_MS);
  await sink.ask({ do: 'begin', status: 200, hold: true });
  const recovered = await Promise.all(
    hooks.map((hook) =>
      call<{ redelivered: number }>(api, 'POST', `/api/hooks/${hook}/recover`, { since }),
    ),
  );
  const queued = recovered.reduce((sum, { redelivered }) => sum + redelivered, 0);
  if (queued !== count) throw new Error(`${queued} deliveries were queued instead of ${count}`);
}

async function emptyBacklog(sink: Sink, count: number): Promise<Run> {
  const before = await sink.report();
  await sink.ask({ do: 'release' });
  await sink.ask({ do: 'await', count });
  return atSink(before, await sink.report(), count, Number.NaN);
}

const totalCpu = (services: readonly RunningService[]) =>
  services.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);

/** How many attempts a process has made, as its metrics say. */
async function attemptsOf({ url }: RunningService): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return [
    ...text.matchAll(/^conversation_service_delivery_attempts_total(?:\{[^}]*\})? (\S+)/gm),
  ].reduce((sum, [, value]) => sum + Number(value), 0);
}
