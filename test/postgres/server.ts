// A PostgreSQL server of a test's own: a throw-away cluster in a temporary folder, on a random port
// of 127.0.0.1.
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync } from 'node:fs';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, tailOf } from '../helpers/program.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { connected, query } from './client.ts';
import { findPostgres, INSTALL_POSTGRES, postgresUser } from './programs.ts';

/** The owner of the database: no superuser, as a service should have it. */
const ROLE = 'service';
const ADMIN = 'admin';
const START_MS = 60_000;

export interface PostgresServerOptions {
  /**
   * Default true, as servers are run. False is faster, and a power cut may lose what was committed.
   */
  readonly fsync?: boolean;
  /** More settings of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Where its programs may be. */
  readonly folders?: readonly string[];
  /** Its files' folder is made within this one. Default: the system's for temporary files. */
  readonly within?: string;
}

/**
 * How a server is stopped. fast: ends every connection and flushes. immediate: as in a crash; the
 * next start recovers from its log.
 */
type PostgresStop = 'fast' | 'immediate';

export interface PostgresServer {
  /**
   * `postgres://service:<password>@127.0.0.1:<port>/service`. The role is an ordinary one that owns
   * the database and may create more databases.
   */
  readonly url: string;
  /** The same database as its superuser. */
  readonly adminUrl: string;
  readonly port: number;
  /** The postmaster's; another one after a restart. */
  readonly pid: number;
  readonly logFile: string;
  /** Stops it. Connections are refused until `resume`. */
  pause(how: PostgresStop): Promise<void>;
  /** Starts it again on the same port; it takes connections when this resolves. */
  resume(): Promise<void>;
  /** `pause`, then `resume`. */
  restart(how: PostgresStop): Promise<void>;
  /**
   * Ends every client's connection in the middle of whatever it does. @returns how many there were
   */
  cutConnections(): Promise<number>;
  /** Ends it and removes its folder. It ends by itself when this process does, even by SIGKILL. */
  stop(): Promise<void>;
}

/** @throws Error that says how to install PostgreSQL when it is missing */
export async function startPostgres({
  fsync = true,
  settings = {},
  folders,
  within = tmpdir(),
}: PostgresServerOptions = {}): Promise<PostgresServer> {
  const programs = findPostgres(folders);
  if (programs === null) throw new Error(INSTALL_POSTGRES);
  const user = postgresUser();
  const folder = await mkdtemp(join(within, 'postgres-'));
  if (user) chownSync(folder, user.uid, user.gid);
  const watchdog = spawn('sh', [fileURLToPath(new URL('watchdog.sh', import.meta.url)), folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watchdog.unref();
  const end = async () => {
    if (watchdog.exitCode !== null) return;
    const gone = once(watchdog, 'exit');
    watchdog.ref();
    watchdog.stdin!.end();
    await gone;
  };
  try {
    return await startIn(folder);
  } catch (error) {
    await end();
    throw error;
  }

  async function startIn(folder: string): Promise<PostgresServer> {
    const logFile = join(folder, 'postgres.log');
    const data = join(folder, 'data');
    const starting = join(folder, 'starting');
    const password = randomBytes(18).toString('hex');
    await writeFile(join(folder, 'password'), password, { mode: 0o644 });

    // A group of its own: Ctrl-C in the terminal reaches us first, and we or the watchdog end it.
    const run = async (program: string, args: readonly string[]): Promise<ChildProcess> => {
      const log = await open(logFile, 'a');
      const child = spawn(join(programs!, program), args, {
        ...user,
        cwd: folder,
        env: serverEnv(),
        detached: true,
        stdio: ['ignore', log.fd, log.fd],
      });
      await once(child, 'spawn');
      await log.close();
      return child;
    };
    const failed = async (what: string) =>
      new Error(`PostgreSQL ${what}. The end of its log:\n${await tailOf(logFile)}`);

    const initdb = await run('initdb', [
      '--pgdata',
      data,
      '--username',
      ADMIN,
      '--pwfile',
      join(folder, 'password'),
      '--auth',
      'scram-sha-256',
      // Sorts texts by a language's rules, as most servers do: what relies on the order of bytes
      // must say so.
      '--encoding',
      'UTF8',
      '--locale',
      'C.UTF-8',
      '--locale-provider',
      'icu',
      '--icu-locale',
      'en-US',
      '--no-sync',
    ]);
    if ((await exitOf(initdb)) !== 0) throw await failed('could not make its files');
    await rm(join(folder, 'password'));

    const fixed = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: '500',
      ...(fsync ? {} : { fsync: 'off', full_page_writes: 'off' }),
      ...settings,
    };
    const urlOf = (role: string, port: number, database = ROLE) =>
      `postgres://${role}:${password}@127.0.0.1:${port}/${database}`;
    const launch = async (port: number): Promise<ChildProcess> => {
      await writeFile(starting, '');
      const server = await run('postgres', [
        '-D',
        data,
        '-p',
        String(port),
        ...Object.entries(fixed).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ]);
      try {
        await waitFor(
          'PostgreSQL to take connections',
          async () => hasExited(server) || (await answers(urlOf(ADMIN, port, 'postgres'))),
          { timeoutMs: START_MS },
        );
      } catch (error) {
        throw await failed(`did not start: ${(error as Error).message}`);
      }
      await rm(starting, { force: true });
      return server;
    };

    let port = await freePort();
    let server = await launch(port);
    for (let tries = 0; hasExited(server); tries += 1) {
      // Another process may have taken the port by now.
      if (tries === 3) throw await failed('ended while starting');
      port = await freePort();
      server = await launch(port);
    }
    await connected(urlOf(ADMIN, port, 'postgres'), async (admin) => {
      await admin.query(`CREATE ROLE ${ROLE} LOGIN CREATEDB PASSWORD '${password}'`);
      await admin.query(`CREATE DATABASE ${ROLE} OWNER ${ROLE}`);
    });

    const adminUrl = urlOf(ADMIN, port);
    const pause = async (how: PostgresStop) => {
      if (hasExited(server)) return;
      const gone = once(server, 'exit');
      server.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
      await gone;
    };
    const resume = async () => {
      if (!hasExited(server)) return;
      server = await launch(port);
      if (hasExited(server)) throw await failed('ended while starting again');
    };
    return {
      url: urlOf(ROLE, port),
      adminUrl,
      port,
      get pid() {
        return server.pid!;
      },
      logFile,
      pause,
      resume,
      async restart(how) {
        await pause(how);
        await resume();
      },
      async cutConnections() {
        const cut = await query(
          adminUrl,
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
        );
        return cut.length;
      },
      stop: end,
    };
  }
}

/** Nothing of the tests' own settings reaches the server, and its messages are in English. */
const serverEnv = (): NodeJS.ProcessEnv => ({ PATH: process.env.PATH, LC_ALL: 'C.UTF-8' });

const hasExited = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

async function exitOf(child: ChildProcess): Promise<number | null> {
  if (!hasExited(child)) await once(child, 'exit');
  return child.exitCode;
}

const answers = (url: string) =>
  query(url, 'SELECT 1').then(
    () => true,
    () => false,
  );
