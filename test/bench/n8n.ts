// How many executions of our trigger a second a real n8n manages, with different settings of n8n.
import { payloadExample } from '../../service/src/app/api/apiExamples.ts';
import { startN8n, type N8nOptions, type N8nServer, type Workflow } from '../n8n/n8nServer.ts';
import { openStage, recordEvents, type Stage } from '../n8n/stage.ts';
import { startPostgres, type PostgresServer } from '../postgres/server.ts';
import { ensurePostgres } from '../postgres/programs.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { cpuSeconds } from './children.ts';
import { dividedBy, scaled, type Effort } from './comparison.ts';
import { ensureRedis, startRedis, type Redis } from './redis.ts';
import { repeat } from './repeat.ts';
import { figure, round, type PartResult } from './report.ts';
import { median } from './statistics.ts';

const AT_ONCE = 8;
const EXECUTIONS = 160;
const EVENT = 'message.received';
const FINISH = { timeoutMs: 180_000, everyMs: 100 };

/** Settings that change how an expression is computed. */
const ENGINES: Readonly<Record<string, Record<string, string>>> = {
  'its defaults': {},
  LAZY_ACQUIRE: { N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true' },
  COMPILE_CACHE: { N8N_EXPRESSION_ENGINE_COMPILE_CACHE: 'true' },
  'LAZY_ACQUIRE and COMPILE_CACHE': {
    N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true',
    N8N_EXPRESSION_ENGINE_COMPILE_CACHE: 'true',
  },
  'the legacy engine': { N8N_EXPRESSION_ENGINE: 'legacy' },
};

/** A way to run n8n. Each has an n8n of its own. */
interface Setup {
  readonly name: string;
  readonly engines: readonly string[];
  readonly options: (servers: Servers) => N8nOptions;
}

interface Servers {
  readonly postgres: PostgresServer;
  readonly redis: Redis;
}

const onPostgres = ({ postgres }: Servers) => {
  const { hostname, port, username, password, pathname } = new URL(postgres.url);
  return {
    DB_TYPE: 'postgresdb',
    DB_POSTGRESDB_HOST: hostname,
    DB_POSTGRESDB_PORT: port,
    DB_POSTGRESDB_USER: username,
    DB_POSTGRESDB_PASSWORD: password,
    DB_POSTGRESDB_DATABASE: pathname.slice(1),
  };
};

const SETUPS: readonly Setup[] = [
  { name: 'SQLite', engines: Object.keys(ENGINES), options: () => ({}) },
  {
    name: 'PostgreSQL',
    engines: ['its defaults', 'LAZY_ACQUIRE and COMPILE_CACHE'],
    options: (servers) => ({ settings: onPostgres(servers) }),
  },
  {
    name: 'PostgreSQL, queue mode, 2 workers',
    engines: ['its defaults', 'LAZY_ACQUIRE and COMPILE_CACHE'],
    options: (servers) => ({
      workers: 2,
      settings: {
        ...onPostgres(servers),
        EXECUTIONS_MODE: 'queue',
        QUEUE_BULL_REDIS_HOST: '127.0.0.1',
        QUEUE_BULL_REDIS_PORT: String(servers.redis.port),
      },
    }),
  },
];

interface Measured {
  readonly name: string;
  readonly perSecond: number[];
  /** CPU milliseconds of n8n's processes for each execution. */
  readonly cpuMs: number[];
  /** Milliseconds until n8n has answered a delivery. */
  readonly p50Ms: number[];
}

export const N8N_PARTS: Readonly<Record<string, (effort: Effort) => Promise<PartResult>>> = {
  executions: measureExecutions,
};

/** In each round each engine has its turn, with a newly started n8n. */
async function measureExecutions(effort: Effort): Promise<PartResult> {
  const missing = ensurePostgres() ?? ensureRedis();
  if (missing !== null) throw new Error(missing);
  const measured: Measured[] = [];
  for (const setup of SETUPS) measured.push(...(await measureSetup(setup, effort)));
  const [defaults] = measured as [Measured, ...Measured[]];
  return {
    ratios: measured.slice(1).map(({ name, perSecond }) => ({
      name: `Executions a second of n8n on ${name}, to its defaults on SQLite`,
      values: dividedBy(perSecond, defaults.perSecond),
      goal: null,
      ours: `${round(median(perSecond))} a second`,
      beside: `${round(median(defaults.perSecond))} a second`,
    })),
    figures: measured.flatMap(({ name, perSecond, cpuMs, p50Ms }) => [
      figure(`n8n on ${name}: executions a second`, perSecond),
      figure(`n8n on ${name}: CPU ms of an execution`, cpuMs),
      figure(`n8n on ${name}: answer to a delivery, p50 ms`, p50Ms),
    ]),
    settings: [
      `n8n: a workflow of our trigger and a node that does nothing, published; signed deliveries of ${EVENT}, ${AT_ONCE} at once, ${scaled(EXECUTIONS, effort)} a run, ${effort.rounds} rounds; from the first delivery until the last execution has ended. ` +
        'Sender, n8n and its database share the two cores.',
    ],
  };
}

async function measureSetup(setup: Setup, effort: Effort): Promise<readonly Measured[]> {
  await using stack = new AsyncDisposableStack();
  const postgres = stack.adopt(await startPostgres(), (server) => server.stop());
  const redis = stack.adopt(await startRedis('everysec'), (server) => server.stop());
  const n8n = stack.adopt(
    await startN8n(null, undefined, setup.options({ postgres, redis })),
    (server) => server.close(),
  );
  const stage = stack.adopt(await openStage({ isFirstStart: true, n8n }), (open) => open.close());
  const workflow = await stage.run(recordEvents);
  const secret = await stage.secretOf(workflow);
  const measured = setup.engines.map((engine) => ({
    name: `${setup.name}, with ${engine}`,
    engine,
    perSecond: [] as number[],
    cpuMs: [] as number[],
    p50Ms: [] as number[],
  }));
  for (let i = 0; i < effort.rounds; i += 1)
    for (const each of measured) {
      await n8n.stop();
      await n8n.start(ENGINES[each.engine]);
      await stage.untilReceiving(workflow);
      await run(stage, workflow, secret, AT_ONCE * 4);
      const { perSecond, cpuMs, p50Ms } = await run(
        stage,
        workflow,
        secret,
        scaled(EXECUTIONS, effort),
      );
      console.log(`  n8n on ${each.name}: ${round(perSecond)} a second`);
      each.perSecond.push(perSecond);
      each.cpuMs.push(cpuMs);
      each.p50Ms.push(p50Ms);
    }
  return measured;
}

let deliveries = 0;

async function run(stage: Stage, workflow: Workflow, secret: string, count: number) {
  const { n8n } = stage;
  const cpu = () => cpuSeconds(n8n.pid, ...n8n.workerPids);
  const taken: number[] = [];
  const [lastBefore, cpuBefore, startedAt] = [await newestId(n8n), cpu(), performance.now()];
  const deliver = async () => {
    const sentAt = performance.now();
    const body = payload(`evt_bench${(deliveries += 1)}`);
    const { status, text } = await stage.deliver(workflow, body, { secret, event: EVENT });
    if (status !== 200) throw new Error(`n8n answered a delivery with ${status}: ${text}`);
    taken.push(performance.now() - sentAt);
  };
  await repeat(count, deliver, AT_ONCE);
  await waitFor('every execution', async () => isDone(n8n, lastBefore + count), FINISH);
  const seconds = (performance.now() - startedAt) / 1000;
  return {
    perSecond: count / seconds,
    cpuMs: ((cpu() - cpuBefore) / count) * 1000,
    p50Ms: median(taken),
  };
}

interface ExecutionRow {
  readonly id: string;
  readonly status: string;
}

const newestExecutions = async (n8n: N8nServer, filter = ''): Promise<readonly ExecutionRow[]> =>
  (await n8n.api<{ data: readonly ExecutionRow[] }>('GET', `/executions?limit=1${filter}`)).data;
/** The id of the newest execution; 0 without any. n8n numbers them without gaps. */
const newestId = async (n8n: N8nServer): Promise<number> =>
  Number((await newestExecutions(n8n))[0]?.id ?? 0);
const isDone = async (n8n: N8nServer, last: number): Promise<boolean> =>
  (await newestId(n8n)) >= last && (await newestExecutions(n8n, '&status=running')).length === 0;

/** An event as the service sends it. */
const payload = (id: string): string => JSON.stringify({ ...payloadExample(EVENT), id });
