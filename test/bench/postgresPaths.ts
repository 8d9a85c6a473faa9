// What each hot path asks of PostgreSQL: statements, trips, pages and bytes of its log (WAL), alone
// and with others beside it.
import { cpuSeconds, startHelper, type Helper, type RunningService } from './children.ts';
import { scaled, type Effort } from './comparison.ts';
import { startCountingProxy, type CountingProxy } from './countingProxy.ts';
import { MESSAGE_TEXT, newCustomer, nothingPending, subscribe, write } from './customers.ts';
import { FRESH_ID, type LoopQuestion, type LoopReport } from './loop.ts';
import { startOnServer, type BenchServer } from './postgresServer.ts';
import { startSink, type Sink, type Tls } from './sinkClient.ts';

/** How many requests are under way at once. */
export const AT_ONCE = [1, 32, 128] as const;
const CALLS = 1280;
const SUBSCRIPTIONS = 2;
const SCHEMA = 'bench_paths';
const SETTLED_WITHIN_MS = 60_000;

/** Of one request, or of one delivery. */
export interface PathCost {
  readonly statements: number;
  readonly trips: number;
  readonly walBytes: number;
  /** Looked at, of 8 KiB each. */
  readonly pages: number;
  readonly serverMicros: number;
  /** Of the process or processes that asked. */
  readonly ownMicros: number;
}

export interface MeasuredPath {
  readonly name: string;
  readonly atOnce: number;
  readonly cost: PathCost;
  readonly perSecond: number;
  readonly p50Ms: number;
}

interface Path {
  readonly name: string;
  readonly request: Pick<
    LoopQuestion,
    'paths' | 'tokens' | 'headers' | 'body' | 'expectedStatus' | 'origin'
  >;
}

interface Process {
  readonly service: Pick<RunningService, 'pid'>;
  readonly proxy: CountingProxy;
}

interface RunningProcess extends Process {
  readonly service: RunningService;
}

export async function measurePaths(
  server: BenchServer,
  tls: Tls,
  effort: Effort,
): Promise<{
  readonly calls: number;
  readonly paths: readonly MeasuredPath[];
  /** The bare route that writes two rows, by how many requests are under way. */
  readonly bare: ReadonlyMap<number, MeasuredPath>;
}> {
  const calls = Math.max(Math.max(...AT_ONCE), scaled(CALLS, effort));
  const loop = startHelper('loop.ts');
  const sink = await startSink(tls);
  const start = async (role: 'api' | 'worker'): Promise<RunningProcess> => {
    const proxy = await startCountingProxy(server.url);
    const service = await startOnServer({ ...server, url: proxy.url }, SCHEMA, role, tls.caFile);
    return { service, proxy };
  };
  const api = await start('api');
  const paths: MeasuredPath[] = [];
  const bare = new Map<number, MeasuredPath>();
  const route = await startBare(server);
  for (const atOnce of AT_ONCE) {
    await measure(server, route, loop, route.path, atOnce, calls);
    bare.set(atOnce, await measure(server, route, loop, route.path, atOnce, calls));
    const customers = await customersOf(api.service, calls);
    for (const path of pathsOf(api.service, customers))
      paths.push(await measure(server, api, loop, path, atOnce, calls));
  }
  const customers = await customersOf(api.service, calls);
  const hooks = await subscribeTwice(api.service, sink);
  const received = {
    ...chatPath(api.service, customers),
    name: 'Chat message with two deliveries',
  };
  for (const atOnce of AT_ONCE)
    paths.push(await measure(server, api, loop, received, atOnce, calls));
  const backlog = AT_ONCE.length * calls * SUBSCRIPTIONS;
  const worker = await measureWorker(
    server,
    sink,
    () => start('worker'),
    backlog,
    async () => {
      await nothingPending(api.service, hooks, SETTLED_WITHIN_MS);
    },
  );
  paths.push(worker.measured);
  for (const { service, proxy } of [api, worker.process]) {
    await service.stop();
    await proxy.close();
  }
  await route.proxy.close();
  for (const helper of [loop, sink.helper, route.service]) await helper.stop();
  return { calls, paths, bare };
}

async function startBare(server: BenchServer) {
  const proxy = await startCountingProxy(server.url);
  const service = startHelper('barePostgres.ts');
  const port = await service.ask<number>({ url: proxy.url });
  const path: Path = {
    name: 'A bare Express route that writes two rows',
    request: {
      origin: `http://127.0.0.1:${port}`,
      headers,
      paths: ['/'],
      body: JSON.stringify({ text: MESSAGE_TEXT }),
      expectedStatus: 201,
    },
  };
  return { proxy, service, path };
}

const headers = { 'content-type': 'application/json' };

interface Customer {
  readonly token: string;
  readonly conversation: string;
}

async function customersOf(service: RunningService, count: number): Promise<readonly Customer[]> {
  const customers: Customer[] = [];
  const add = async () => {
    while (customers.length < count) {
      const token = await newCustomer(service);
      customers.push({ token, conversation: await write(service, token) });
    }
  };
  await Promise.all(Array.from({ length: 8 }, add));
  return customers.slice(0, count);
}

const chatPath = ({ url }: RunningService, customers: readonly Customer[]): Path => ({
  name: 'Chat message',
  request: {
    origin: url,
    headers,
    paths: ['/api/chat/messages'],
    tokens: customers.map(({ token }) => token),
    body: JSON.stringify({ text: MESSAGE_TEXT, client_message_id: FRESH_ID }),
    expectedStatus: 202,
  },
});

/** In an order in which each is possible: the first of all takes over. */
function pathsOf(service: RunningService, customers: readonly Customer[]): readonly Path[] {
  const onConversation = (name: string, verb: string, body: object, expectedStatus: number) => ({
    name,
    request: {
      origin: service.url,
      headers,
      paths: customers.map(({ conversation }) => `/api/conversations/${conversation}/${verb}`),
      tokens: [service.apiKey],
      body: JSON.stringify(body),
      expectedStatus,
    },
  });
  return [
    chatPath(service, customers),
    onConversation('Take-over', 'takeover', {}, 200),
    onConversation('API reply', 'messages', { text: MESSAGE_TEXT }, 201),
    onConversation('Close', 'close', { verdict: 'goal_reached', summary: 'Done.' }, 200),
  ];
}

async function subscribeTwice(service: RunningService, sink: Sink): Promise<readonly string[]> {
  const hooks: string[] = [];
  for (let n = 0; n < SUBSCRIPTIONS; n += 1)
    hooks.push(await subscribe(service, 'message.received', `${sink.origin}/hooks/${n}`));
  return hooks;
}

async function measure(
  server: BenchServer,
  { service, proxy }: Process,
  loop: Helper,
  { name, request }: Path,
  atOnce: number,
  calls: number,
): Promise<MeasuredPath> {
  const cost = await costOf(server, proxy, [service]);
  const question: LoopQuestion = { ...request, connections: atOnce, count: calls };
  const { perSecond, p50Ms } = await loop.ask<LoopReport>(question);
  return { name, atOnce, perSecond, p50Ms, cost: await cost(calls) };
}

/** A worker that finds a backlog. */
async function measureWorker(
  server: BenchServer,
  sink: Sink,
  start: () => Promise<RunningProcess>,
  count: number,
  settled: () => Promise<void>,
): Promise<{ measured: MeasuredPath; process: RunningProcess }> {
  await sink.ask({ do: 'begin', status: 200, hold: true });
  const process = await start();
  const cost = await costOf(server, process.proxy, [process.service]);
  await sink.ask({ do: 'release' });
  const startedAt = performance.now();
  await sink.ask({ do: 'await', count });
  const perSecond = count / ((performance.now() - startedAt) / 1000);
  await settled();
  const measured = {
    name: 'Delivery: claimed, and its attempt recorded',
    atOnce: SUBSCRIPTIONS,
    perSecond,
    p50Ms: Number.NaN,
    cost: await cost(count),
  };
  return { measured, process };
}

async function costOf(
  server: BenchServer,
  proxy: CountingProxy,
  services: readonly Pick<RunningService, 'pid'>[],
): Promise<(count: number) => Promise<PathCost>> {
  const now = async () => {
    const [wal] = await server.query(
      `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS bytes`,
    );
    return {
      ...proxy.traffic,
      wal: Number(wal!.bytes),
      work: await server.work(),
      own: services.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0),
    };
  };
  const before = await now();
  return async (count) => {
    const after = await now();
    return {
      statements: (after.statements - before.statements) / count,
      trips: (after.trips - before.trips) / count,
      walBytes: (after.wal - before.wal) / count,
      pages: (after.work.buffers - before.work.buffers) / count,
      serverMicros: ((after.work.cpuSeconds - before.work.cpuSeconds) / count) * 1e6,
      ownMicros: ((after.own - before.own) / count) * 1e6,
    };
  };
}
