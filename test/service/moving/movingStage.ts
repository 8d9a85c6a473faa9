// A service as a process of its own that is moved from one place to another: its folder, its
// database, its commands.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { readConfig } from '../../../service/src/app/config.ts';
import { startService } from '../../../service/src/app/service.ts';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { commandHere, type Ended } from '../../helpers/commandHere.ts';
import { testSettings } from '../../helpers/service.ts';
import { NO_LIMITS } from '../../helpers/settings.ts';
import { testDatabaseUrl } from '../../helpers/storage.ts';
import {
  BARE_ENV,
  freePort,
  MAIN,
  runCommand,
  startProgram,
  type Program,
} from '../../helpers/program.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { query } from '../../postgres/client.ts';
import { dropSchema, TEST_SCHEMA } from '../../postgres/schemas.ts';

export const API_KEY = `cs_live_${'C'.repeat(32)}`;
/** Who writes to a table, and has not committed. */
const WRITERS = `FROM pg_locks
  WHERE granted AND mode = 'ShareRowExclusiveLock' AND relation = to_regclass($1)`;

/** Where a service keeps its data, as the environment names it. */
export interface DataPlace {
  readonly env: Readonly<Record<string, string>>;
  /** Null for a database. */
  readonly folder: string | null;
}

/** On a slow machine a command says every few seconds how far it is. */
const withoutProgress = (err: string): string => err.replace(/^\d+ records .* so far …\n/gm, '');

export const succeeded = ({ code, err }: Ended): void =>
  expect([code, withoutProgress(err)]).toEqual([0, '']);

/** Expects that a command was refused, with one line on standard error. */
export const refused = (ended: Ended, message: RegExp): void => {
  expect(ended).toMatchObject({ code: 1, out: '' });
  expect(ended.err).toMatch(/^conversation-service: [^\n]+\n$/);
  expect(ended.err).toMatch(message);
};

export const otherKey = (): string => randomBytes(32).toString('base64');

export class MovingStage {
  readonly folder: string;
  readonly port: number;
  readonly url: string;
  readonly #schemas: string[] = [];
  #running: Program | null = null;
  #places = 0;

  private constructor(folder: string, port: number) {
    this.folder = folder;
    this.port = port;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async open(): Promise<MovingStage> {
    return new MovingStage(await mkdtemp(join(tmpdir(), 'conversation-moving-')), await freePort());
  }

  /** A data folder that is not there yet. @param key left out: made at the first start */
  folderPlace(key?: string): DataPlace {
    this.#places += 1;
    const folder = join(this.folder, `data-${this.#places}`);
    return {
      folder,
      env: { DATA_DIR: folder, ...(key === undefined ? {} : { ENCRYPTION_KEY: key }) },
    };
  }

  /** A schema of the tests' database that is not there yet. */
  databasePlace(key: string): DataPlace {
    const schema = `${TEST_SCHEMA}${randomBytes(8).toString('hex')}`;
    this.#schemas.push(schema);
    return {
      folder: null,
      env: {
        DATABASE_URL: testDatabaseUrl()!,
        DATABASE_SCHEMA: schema,
        DATABASE_CONNECTIONS: '4',
        ENCRYPTION_KEY: key,
      },
    };
  }

  /** The key that a folder's service has made. */
  keyOf = async ({ folder }: DataPlace): Promise<string> =>
    (await readFile(join(folder!, 'encryption.key'), 'utf8')).trim();

  /** Starts the service at a place, always on the same port, so that callers notice nothing. */
  async start(place: DataPlace, env: Readonly<Record<string, string>>): Promise<void> {
    this.#running = await startProgram({
      name: 'The service',
      script: MAIN,
      cwd: this.folder,
      env: {
        HOST: '127.0.0.1',
        PORT: String(this.port),
        ALLOWED_NETWORKS: '127.0.0.0/8',
        ...NO_LIMITS,
        ...env,
        ...cleared(place),
      },
      logFile: join(this.folder, 'service.log'),
    });
    await this.#running.ready(() => fetch(`${this.url}/readyz`).then((answer) => answer.ok));
  }

  /** Whether the service has ended by itself. */
  get hasEnded(): boolean {
    return this.#running?.exited === true;
  }

  log = (): Promise<string> => readFile(join(this.folder, 'service.log'), 'utf8');

  /** Sends SIGTERM; or SIGKILL, in the middle of what the service does. */
  async stop(how: 'in order' | 'killed' = 'in order'): Promise<void> {
    if (how === 'killed') await this.#running?.kill();
    else await this.#running?.stop();
    this.#running = null;
  }

  /** As `command`, in this process: for tests that need no process of its own. */
  commandHere = (
    place: DataPlace,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<Ended> => commandHere(args, { ...cleared(place), ...env });

  /** In a process of its own. @param input given to standard input */
  command = (
    place: DataPlace,
    args: readonly string[],
    { env = {}, input }: { env?: Readonly<Record<string, string>>; input?: Buffer } = {},
  ): Promise<Ended> => runCommand(args, { ...cleared(place), ...env }, { cwd: this.folder, input });

  /** Starts a service that makes a workspace and `API_KEY` where there is nothing. */
  startUsed = (place: DataPlace): Promise<void> =>
    this.start(place, { BOOTSTRAP_API_KEY: API_KEY, BOOTSTRAP_WORKSPACE: 'Shop' });

  /** Runs a service there for a moment, in this process, and writes three messages. */
  async useHere(place: DataPlace): Promise<void> {
    const settings = {
      ...testSettings(place),
      BOOTSTRAP_API_KEY: API_KEY,
      BOOTSTRAP_WORKSPACE: 'Shop',
    };
    const service = await startService(readConfig(settings));
    try {
      const customer = await chatCustomer(service.url);
      for (const text of ['one', 'two', 'three']) await customer.write(text);
    } finally {
      await service.stop();
    }
  }

  /** As `useHere`. @returns the file of its export */
  async use(place: DataPlace): Promise<string> {
    await this.useHere(place);
    const file = join(this.folder, 'export.ndjson');
    succeeded(await this.command(place, ['export', '--to', file]));
    return file;
  }

  /** Expects that a place holds no data. On a database, this makes the tables. */
  async expectEmpty(place: DataPlace): Promise<void> {
    refused(
      await this.commandHere(place, ['export', '--to', join(this.folder, 'none')]),
      /There is nothing to export/,
    );
  }

  /** Gives an import most of its input, and waits until it has begun to write. */
  async beginImport(place: DataPlace, whole: Buffer) {
    const child = spawn(process.execPath, [MAIN, 'import', '--from', '-'], {
      env: { ...BARE_ENV, ...place.env },
    });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk) => (out += String(chunk)));
    child.stderr.on('data', (chunk) => (err += String(chunk)));
    child.stdin.on('error', () => {});
    child.stdin.write(whole.subarray(0, whole.length - 100));
    await waitFor('the import to be under way', () => this.#isWriting(place));
    return {
      /** Gives it the rest. */
      async end(): Promise<Ended> {
        child.stdin.end(whole.subarray(whole.length - 100));
        await once(child, 'close');
        return { code: child.exitCode!, out, err };
      },
      async kill() {
        child.kill('SIGKILL');
        await once(child, 'close');
      },
    };
  }

  /** Cuts the connection over which an import writes. */
  cutImport = ({ env }: DataPlace) =>
    query(env['DATABASE_URL']!, `SELECT pg_terminate_backend(pid) ${WRITERS}`, [
      `${env['DATABASE_SCHEMA']}.workspaces`,
    ]);

  async #isWriting({ env, folder }: DataPlace): Promise<boolean> {
    if (folder !== null)
      return (await readdir(folder)).some((name) => /^snapshot.*\.tmp$/.test(name));
    const table = `${env['DATABASE_SCHEMA']}.workspaces`;
    return (await query(env['DATABASE_URL']!, `SELECT pid ${WRITERS}`, [table])).length > 0;
  }

  async close(): Promise<void> {
    await this.#running?.kill();
    for (const schema of this.#schemas) await dropSchema(testDatabaseUrl()!, schema);
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** The variables of a place, and none of those that name the tests' own store. */
const cleared = ({ env }: DataPlace): Record<string, string> => ({
  DATABASE_URL: '',
  DATABASE_SCHEMA: '',
  DATABASE_CONNECTIONS: '',
  ENCRYPTION_KEY: '',
  ...env,
});

/** The records of an export, without the lines around them. */
export const recordsOf = (text: string): readonly string[] =>
  text.trimEnd().split('\n').slice(1, -1);
