// The bench's own PostgreSQL server. It is as durable as PostgreSQL's defaults make it, and gone when
// the bench ends.
import { readdirSync } from 'node:fs';
import pg from 'pg';
import { collections } from '../../service/src/app/collections.ts';
import { openPostgresStore, serviceMigrations } from '../../service/src/store/postgres/index.ts';
import type { Store } from '../../service/src/store/store.ts';
import { startPostgres, type PostgresServer } from '../postgres/server.ts';
import { ensurePostgres } from '../postgres/programs.ts';
import { cpuSeconds, startService, statOf, type RunningService } from './children.ts';
import { CPU_EACH, type Run } from './comparison.ts';
import { figure, type Figure } from './report.ts';

/** What the server has done since it was started. */
export interface ServerWork {
  /** CPU seconds of all its processes; NaN where /proc does not say. */
  readonly cpuSeconds: number;
  /** NaN without pg_stat_statements. */
  readonly statements: number;
  /** Pages of 8 KiB looked at, in memory or on disk; NaN without pg_stat_statements. */
  readonly pages: number;
}

/** All runs of one statement. */
export interface StatementWork {
  readonly query: string;
  /** The time in which it was planned and executed. */
  readonly micros: number;
  /** Pages of 8 KiB looked at. */
  readonly pages: number;
  readonly walBytes: number;
}

export interface BenchServer {
  readonly url: string;
  readonly version: string;
  work(): Promise<ServerWork>;
  /**
   * The service's statements during `run`; none without pg_stat_statements. It sets the counts of
   * `work()` back to zero.
   */
  statements(run: () => Promise<unknown>): Promise<readonly StatementWork[]>;
  /** As its superuser. */
  query(text: string): Promise<readonly Record<string, unknown>[]>;
  stop(): Promise<void>;
}

/** @throws Error that says how to install PostgreSQL */
export async function startBenchServer(): Promise<BenchServer> {
  const missing = ensurePostgres();
  if (missing !== null) throw new Error(missing);
  const server = await startWithStatistics();
  const admin = new pg.Client({ connectionString: server.adminUrl });
  await admin.connect();
  const query = async (text: string) => (await admin.query<Record<string, unknown>>(text)).rows;
  const hasStatistics = await query('CREATE EXTENSION pg_stat_statements').then(
    () => true,
    () => false,
  );
  const [{ server_version: version }] = (await query('SHOW server_version')) as [
    { server_version: string },
  ];
  return {
    url: server.url,
    version: version.split(' ')[0]!,
    query,
    async work() {
      const cpuSeconds = cpuOfServer(server.pid);
      if (!hasStatistics) return { cpuSeconds, statements: Number.NaN, pages: Number.NaN };
      const [sums] = await query(
        `SELECT coalesce(sum(calls), 0)::float8 AS statements, coalesce(sum(shared_blks_hit + shared_blks_read), 0)::float8 AS pages
          FROM pg_stat_statements JOIN pg_roles ON pg_roles.oid = userid WHERE rolname = 'service'`,
      );
      return { cpuSeconds, statements: Number(sums!.statements), pages: Number(sums!.pages) };
    },
    async statements(run) {
      if (hasStatistics) await query('SELECT pg_stat_statements_reset()');
      await run();
      if (!hasStatistics) return [];
      const rows = await query(
        `SELECT query, (total_plan_time + total_exec_time) * 1000 AS micros, shared_blks_hit + shared_blks_read AS pages, wal_bytes
          FROM pg_stat_statements JOIN pg_roles ON pg_roles.oid = userid WHERE rolname = 'service'`,
      );
      return rows.map((row) => ({
        query: String(row.query),
        micros: Number(row.micros),
        pages: Number(row.pages),
        walBytes: Number(row.wal_bytes),
      }));
    },
    async stop() {
      await admin.end();
      await server.stop();
    },
  };
}

/** With pg_stat_statements, where the server's package has it. */
async function startWithStatistics(): Promise<PostgresServer> {
  try {
    return await startPostgres({
      settings: {
        shared_preload_libraries: 'pg_stat_statements',
        'pg_stat_statements.max': '10000',
        'pg_stat_statements.track_planning': 'on',
      },
    });
  } catch {
    return startPostgres();
  }
}

/** CPU seconds of a server and its child processes, those that have ended included. */
function cpuOfServer(pid: number): number {
  try {
    const own = statOf(pid);
    let sum = own.cpuSeconds + own.endedCpuSeconds;
    for (const id of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        const { parentPid, cpuSeconds } = statOf(id);
        if (parentPid === pid) sum += cpuSeconds;
      } catch {
        // It has ended by now.
      }
    }
    return sum;
  } catch {
    return Number.NaN;
  }
}

/** A run, with what each of its requests or deliveries cost. */
export interface CostlyRun extends Run {
  /** By name, with the unit in the name. */
  readonly costs: Readonly<Record<string, number>>;
}

/**
 * Runs it and measures its costs. The CPU time of a run is that of the processes and of PostgreSQL
 * together.
 * @param processes of the service, by what they are called
 */
export async function withCosts(
  server: BenchServer,
  processes: Readonly<Record<string, readonly RunningService[]>>,
  count: number,
  run: () => Promise<Run>,
): Promise<CostlyRun> {
  const used = async (): Promise<Record<string, number>> => {
    const { cpuSeconds: ofServer, statements, pages } = await server.work();
    const ofProcesses = Object.entries(processes).map(([name, services]) => [
      `CPU µs of ${name}`,
      cpuSeconds(...services.map(({ pid }) => pid)) * 1e6,
    ]);
    return {
      ...Object.fromEntries(ofProcesses),
      'CPU µs of PostgreSQL': ofServer * 1e6,
      statements,
      'pages looked at': pages,
    };
  };
  const before = await used();
  const { perSecond, details } = await run();
  const after = await used();
  const costs: Record<string, number> = {};
  for (const name of Object.keys(after)) costs[name] = (after[name]! - before[name]!) / count;
  const cpuEach = Object.keys(costs)
    .filter((name) => name.startsWith('CPU'))
    .reduce((sum, name) => sum + costs[name]!, 0);
  return { perSecond, details: { ...details, [CPU_EACH]: cpuEach }, costs };
}

export const costFigures = (name: string, runs: readonly CostlyRun[]): Figure[] =>
  Object.keys(runs[0]!.costs).map((cost) =>
    figure(
      `${name}: ${cost}, each`,
      runs.map(({ costs }) => costs[cost]!),
    ),
  );

export type BenchStore = Store<typeof collections>;

/** The store of a schema, in this process. */
export const openOnServer = (
  { url }: Pick<BenchServer, 'url'>,
  schema: string,
  queues: readonly string[] = [],
): Promise<BenchStore> =>
  openPostgresStore(collections, {
    database: url,
    schema,
    migrations: serviceMigrations,
    queues,
  });

/** A process of the service on a schema of the server. All have the same encryption key. */
export const startOnServer = (
  { url }: BenchServer,
  schema: string,
  role: 'all' | 'api' | 'worker',
  caFile: string,
  profiles?: string,
): Promise<RunningService> =>
  startService(caFile, profiles, {
    startWithinMs: 60_000,
    env: {
      DATABASE_URL: url,
      DATABASE_SCHEMA: schema,
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      ROLE: role,
      PUBLIC_URL: 'http://localhost:3000',
    },
  });
