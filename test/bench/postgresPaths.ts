// What each hot path asks of PostgreSQL: statements, trips, pages and bytes of its log (WAL), alone
// and with others beside it.
import { cpuSeconds, startHelper } from './children.ts';
import { scaled, type Effort } from './comparison.ts';
import { startCountingProxy, type CountingProxy } from './countingProxy.ts';
import { MESSAGE_TEXT, waitUntilRecorded, subscribe } from './customers.ts';
import { startOnServer, type BenchServer } from './postgresServer.ts';
import { round, type Goal, type PartResult } from './report.ts';
import { emptyBacklog, startSink, type Tls } from './sinkClient.ts';
import {
  chatMessages,
  onConversations,
  runLoad,
  startWriters,
  teamMessages,
  type Target,
  type Write,
  type Writers,
} from './writes.ts';

/** How many requests are under way at once. */
const AT_ONCE = [1, 32, 128] as const;
const CALLS = 1280;
const SUBSCRIPTIONS = 2;
const SCHEMA = 'bench_paths';
/** How writes compare with the bare route, by how many requests are under way. */
const GOALS: Readonly<Record<number, Goal>> = { 32: { atLeast: 0.8 }, 128: { atLeast: 1.5 } };
const COMPARED = ['Chat message', 'API reply'];
const BARE = 'A bare Express route that writes two rows';

/** The cost of one request, or of one delivery. */
interface PathCost {
  readonly statements: number;
  readonly trips: number;
  readonly walBytes: number;
  /** Pages of 8 KiB looked at. */
  readonly pages: number;
  readonly serverMicros: number;
  /** CPU time of the process that asks PostgreSQL. */
  readonly ownMicros: number;
}

interface MeasuredPath {
  readonly name: string;
  readonly atOnce: number;
  readonly cost: PathCost;
  readonly perSecond: number;
  /** Not measured for deliveries. */
  readonly p50Ms?: number;
}

/** A process that asks PostgreSQL, by way of a proxy. */
interface ProxiedProcess {
  readonly target: Target;
  readonly proxy: CountingProxy;
}

export async function measurePaths(
  server: BenchServer,
  tls: Tls,
  effort: Effort,
): Promise<PartResult> {
  const calls = Math.max(...AT_ONCE, scaled(CALLS, effort));
  const loop = startHelper('loop.ts');
  const sink = await startSink(tls);
  const start = async (role: 'api' | 'worker') => {
    const proxy = await startCountingProxy(server.url);
    const target = await startOnServer({ ...server, url: proxy.url }, SCHEMA, role, tls.caFile);
    return { proxy, target };
  };
  const measured: MeasuredPath[] = [];
  const measure = async (name: string, proxied: ProxiedProcess, write: Write, atOnce: number) => {
    const cost = await costOf(server, proxied);
    const { perSecond, details } = await runLoad([loop], write, [proxied.target], atOnce, calls);
    const p50Ms = details['p50 ms']!;
    measured.push({ name, atOnce, perSecond, p50Ms, cost: await cost(calls) });
  };

  const bare = await startBare(server);
  const api = await start('api');
  const { target: service } = api;
  for (const atOnce of AT_ONCE) {
    await runLoad([loop], TWO_ROWS, [bare.target], atOnce, calls); // opens connections
    await measure(BARE, bare, TWO_ROWS, atOnce);
    const writers = await startWriters(service, calls);
    for (const [name, write] of hotPaths(writers)) await measure(name, api, write, atOnce);
  }
  const writers = await startWriters(service, calls);
  const hooks: string[] = [];
  for (let n = 0; n < SUBSCRIPTIONS; n += 1)
    hooks.push(await subscribe(service, 'message.received', `${sink.origin}/hooks/${n}`));
  for (const atOnce of AT_ONCE)
    await measure('Chat message with two deliveries', api, chatMessages(writers), atOnce);

  // A worker starts, and finds a backlog.
  await sink.ask({ do: 'begin', status: 200, hold: true });
  const worker = await start('worker');
  const count = AT_ONCE.length * calls * SUBSCRIPTIONS;
  const cost = await costOf(server, worker);
  const { perSecond } = await emptyBacklog(sink, count, []);
  await waitUntilRecorded(service, hooks);
  measured.push({
    name: 'Delivery: claimed, and its attempt recorded',
    atOnce: SUBSCRIPTIONS,
    perSecond,
    cost: await cost(count),
  });
  for (const { target, proxy } of [api, worker, bare]) {
    await target.stop();
    await proxy.close();
  }
  for (const helper of [loop, sink]) await helper.stop();

  const compared = measured.filter(({ name }) => COMPARED.includes(name));
  return {
    ratios: compared.map(({ name, atOnce, perSecond: ours }) => {
      const theirs = measured.find((path) => path.name === BARE && path.atOnce === atOnce)!;
      return {
        name: `${name}, ${atOnce} at once, to a bare Express route that writes two rows`,
        values: [ours / theirs.perSecond],
        goal: GOALS[atOnce] ?? null,
        ours: `${round(ours)} a second`,
        beside: `${round(theirs.perSecond)} a second`,
      };
    }),
    figures: measured.map((path) => ({
      name: `${path.name}, ${path.atOnce} at once`,
      ours: textOf(path.cost),
      beside: `${round(path.perSecond)} a second${path.p50Ms === undefined ? '' : `, p50 ${round(path.p50Ms)} ms`}`,
    })),
    settings: [
      `Paths: ${calls} requests of each kind to as many conversations, ${AT_ONCE.join(', ')} at once, counted by a proxy in front of PostgreSQL, the service's own polling for changes included. The bare route writes two rows in one transaction through the same driver, on ten connections. A trip is a group of statements sent without waiting for an answer in between. The deliveries are those of the messages before, by one worker that finds them waiting.`,
    ],
  };
}

const textOf = ({ statements, trips, pages, walBytes, serverMicros, ownMicros }: PathCost) =>
  `${round(statements)} statements, ${round(trips)} trips, ${round(pages)} pages, ${round(walBytes)} bytes of WAL, CPU ${round(serverMicros)} µs of PostgreSQL and ${round(ownMicros)} of the service`;

const TWO_ROWS: Write = {
  paths: ['/'],
  body: JSON.stringify({ text: MESSAGE_TEXT }),
  expectedStatus: 201,
};

async function startBare(server: BenchServer) {
  const proxy = await startCountingProxy(server.url);
  const { ask, pid, stop } = startHelper('barePostgres.ts');
  const port = await ask<number>({ url: proxy.url });
  return { proxy, target: { url: `http://127.0.0.1:${port}`, pid, stop } };
}

/** In an order in which each is possible: an API reply would take over, and a close ends it all. */
const hotPaths = (writers: Writers): readonly (readonly [name: string, Write])[] => [
  ['Chat message', chatMessages(writers)],
  ['Take-over', onConversations(writers, 'takeover', {}, 200)],
  ['API reply', teamMessages(writers)],
  ['Close', onConversations(writers, 'close', { verdict: 'goal_reached', summary: 'Done.' }, 200)],
];

/** @returns a function that gives what has been spent since, for each of `count` */
async function costOf(
  server: BenchServer,
  { target, proxy }: ProxiedProcess,
): Promise<(count: number) => Promise<PathCost>> {
  const now = async (): Promise<PathCost> => {
    const [wal] = await server.query(
      `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS bytes`,
    );
    const work = await server.work();
    return {
      ...proxy.traffic,
      walBytes: Number(wal!.bytes),
      pages: work.pages,
      serverMicros: work.cpuSeconds * 1e6,
      ownMicros: cpuSeconds(target.pid) * 1e6,
    };
  };
  const before = await now();
  return async (count) => {
    const after = await now();
    const each = Object.entries(before).map(([name, value]) => [
      name,
      (after[name as keyof PathCost] - value) / count,
    ]);
    return Object.fromEntries(each) as PathCost;
  };
}
