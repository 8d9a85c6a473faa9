// Several real processes of the built service that share one fresh schema of a PostgreSQL server.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import type { Role } from '../../service/src/app/config.ts';
import { query } from '../postgres/client.ts';
import { dropSchema, TEST_SCHEMA } from '../postgres/schemas.ts';
import { startPostgres } from '../postgres/server.ts';
import { apiClient, type ApiClient } from './apiClient.ts';
import { failuresSoFar } from './failures.ts';
import { freePort, MAIN, startProgram, type Program } from './program.ts';
import { NO_LIMITS, randomApiKey } from './settings.ts';
import { testDatabaseUrl } from './storage.ts';
import { sharedTestCa } from './tls.ts';

const START_MS = 120_000;

interface ClusterOptions {
  /**
   * The database that they share. Default: DATABASE_URL's, else a server that is started for this
   * cluster.
   */
  readonly databaseUrl?: string;
  /** The authority that its targets' certificates come from. Default: the tests' own. */
  readonly caFile?: string;
  /**
   * Added to the settings that every test has: local targets, short retries, no rate limits.
   * Undefined removes a variable.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Another build of the service than service/dist. */
  readonly script?: string;
}

/** One process of the service. It keeps its port and log over restarts. */
export interface ClusterProcess {
  readonly role: Role;
  /** `http://127.0.0.1:<port>`; also before it has started, and after its end. */
  readonly url: string;
  readonly pid: number;
  readonly isRunning: boolean;
  readonly logFile: string;
  /** Calls this process with the workspace's key; every answer is checked against the contract. */
  readonly api: ApiClient;
  /** The `application_name` of its connections to the database. */
  readonly applicationName: string;
}

export interface Cluster {
  readonly processes: readonly ClusterProcess[];
  readonly apiKey: string;
  readonly databaseUrl: string;
  readonly schema: string;
  /** Holds their logs; kept when a test failed. */
  readonly folder: string;
  /** SIGKILL; gone when this resolves. */
  kill(index: number): Promise<void>;
  /** SIGTERM; gone when this resolves. */
  terminate(index: number): Promise<void>;
  /**
   * Starts a process again on the same port, after SIGTERM if it still runs. Ready when this
   * resolves.
   */
  restart(index: number): Promise<void>;
  /** Runs a statement of SQL at the shared database. */
  query<Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Ends the connections of a process in the middle of whatever they do. `listening`: only those
   * that listen for notifications. @returns how many were ended
   */
  cutConnections(index: number, which?: 'all' | 'listening'): Promise<number>;
  /**
   * Stops all and removes what they stored; after a failure schema and logs stay, and their names
   * are printed.
   */
  stop(): Promise<void>;
}

/**
 * Starts a process for each of the roles, all at the same moment, on an empty schema.
 * All are ready when this resolves.
 */
export async function startCluster(
  roles: readonly Role[],
  { databaseUrl, caFile, env = {}, script = MAIN }: ClusterOptions = {},
): Promise<Cluster> {
  const given = databaseUrl ?? testDatabaseUrl();
  const server = given === null ? await startPostgres() : null;
  const url = given ?? server!.url;
  const schema = `${TEST_SCHEMA}${randomBytes(8).toString('hex')}`;
  const folder = await mkdtemp(join(tmpdir(), 'cluster-'));
  const ownCaFile = join(folder, 'ca.pem');
  await writeFile(ownCaFile, (await sharedTestCa()).ca);
  const failures = failuresSoFar();
  const apiKey = randomApiKey();
  const ports = await Promise.all(roles.map(() => freePort()));
  const encryptionKey = randomBytes(32).toString('base64');

  const settingsOf = (index: number, applicationName: string): NodeJS.ProcessEnv => ({
    HOST: '127.0.0.1',
    PORT: String(ports[index]),
    ROLE: roles[index],
    PUBLIC_URL: `http://127.0.0.1:${ports[0]}`,
    DATA_DIR: join(folder, 'data'), // nothing is written there
    DATABASE_URL: named(url, applicationName),
    DATABASE_SCHEMA: schema,
    DATABASE_CONNECTIONS: '4',
    ENCRYPTION_KEY: encryptionKey,
    ALLOWED_NETWORKS: '127.0.0.0/8',
    BOOTSTRAP_API_KEY: apiKey,
    BOOTSTRAP_WORKSPACE: 'demo',
    DELIVERY_RETRY_DELAYS_MS: '500,1000,2000',
    ...NO_LIMITS,
    NODE_EXTRA_CA_CERTS: caFile ?? ownCaFile,
    ...env,
  });

  const members = roles.map((role, index) => {
    const name = `${role}-${index}`;
    const logFile = join(folder, `${name}.log`);
    const processUrl = `http://127.0.0.1:${ports[index]}`;
    const isReady = () => fetch(`${processUrl}/readyz`).then((answer) => answer.ok);
    let program: Program | null = null;
    const start = async () => {
      program = await startProgram({
        name: `The service's process ${name}`,
        script,
        cwd: folder,
        env: settingsOf(index, `${schema}-${name}`),
        logFile,
      });
      await program.ready(isReady, { timeoutMs: START_MS });
    };
    const stop = async () => program?.stop();
    const described: ClusterProcess = {
      role,
      url: processUrl,
      get pid() {
        return program!.pid;
      },
      get isRunning() {
        return program !== null && !program.exited;
      },
      logFile,
      api: apiClient(processUrl, apiKey),
      applicationName: `${schema}-${name}`,
    };
    return { process: described, start, stop, kill: async () => program?.kill() };
  });

  const stop = async () => {
    await Promise.all(members.map((member) => member.stop()));
    if (failuresSoFar() > failures) {
      process.stderr.write(
        `A test failed; the logs of its processes are kept in ${folder}${server ? '' : `, what they stored in the schema ${schema}`}.\n`,
      );
    } else {
      await rm(folder, { recursive: true, force: true });
      if (!server) await dropSchema(url, schema);
    }
    await server?.stop();
  };

  const started = await Promise.allSettled(members.map((member) => member.start()));
  const failed = started.find((each) => each.status === 'rejected');
  if (failed) {
    await Promise.all(members.map((member) => member.kill()));
    await dropSchema(url, schema).catch(() => {});
    await server?.stop();
    throw failed.reason;
  }
  return {
    processes: members.map(({ process }) => process),
    apiKey,
    databaseUrl: url,
    schema,
    folder,
    kill: (index) => members[index]!.kill(),
    terminate: (index) => members[index]!.stop(),
    async restart(index) {
      await members[index]!.stop();
      await members[index]!.start();
    },
    query: (text, values) => query(url, text, values),
    async cutConnections(index, which = 'all') {
      // The last query of a connection that listens is its LISTEN, or the check that it still lives.
      const rows = await query(
        url,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND ($2 = 'all' OR query LIKE 'LISTEN %' OR query = 'SELECT 1')`,
        [members[index]!.process.applicationName, which],
      );
      return rows.length;
    },
    stop,
  };
}

/** The same database, with a name that tells one process's connections from another's. */
function named(url: string, applicationName: string): string {
  const address = new URL(url);
  address.searchParams.set('application_name', applicationName);
  return address.href;
}
