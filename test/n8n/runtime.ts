/**
 * The n8n that the tests and the demo run: pinned by runtime/package-lock.json and installed once
 * into a user-level cache folder, never into the repository (n8n-node's build copies every picture
 * below the root) and never by `npm ci` there.
 *
 * `node test/n8n/runtime.ts` installs it alone and prints where it is (`--quiet`: only what takes long).
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, copyFile, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { cleanEnv, tailOf } from '../helpers/program.ts';

const { waitForLock, tryLock } = createRequire(import.meta.url)('fs-native-extensions') as {
  tryLock(fd: number): boolean;
  waitForLock(fd: number): Promise<void>;
};

const manifestFolder = fileURLToPath(new URL('runtime/', import.meta.url));
const manifestFiles = ['package.json', 'package-lock.json'];

export interface Runtime {
  /** The installation; `node_modules/n8n` lies in it. */
  readonly folder: string;
  /** n8n's entry point, to be run with this very Node. */
  readonly bin: string;
}

/** Where the pinned runtime lives, installed or not: another lock file, another folder. */
export async function runtimeFolder(): Promise<string> {
  const hash = createHash('sha256');
  for (const name of manifestFiles) hash.update(await readFile(join(manifestFolder, name)));
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return join(cache, 'conversation-service', `n8n-${hash.digest('hex').slice(0, 16)}`);
}

const runtimeIn = (folder: string): Runtime => ({
  folder,
  bin: join(folder, 'node_modules', 'n8n', 'bin', 'n8n'),
});

/** Written last: an installation without it was interrupted and is done again. */
const markerOf = (folder: string) => join(folder, 'complete');

/** Whether the pinned runtime is there and whole. */
export const isRuntimeInstalled = async () => existsSync(markerOf(await runtimeFolder()));

/**
 * The pinned runtime; installs it first when it is missing, which takes about five minutes and
 * 2 GB. Two callers at once: one installs, the other waits for it.
 * @param say hears what takes so long, in lines for a person
 */
export async function ensureRuntime(say: (line: string) => void = console.log): Promise<Runtime> {
  const folder = await runtimeFolder();
  if (existsSync(markerOf(folder))) return runtimeIn(folder);
  await mkdir(dirname(folder), { recursive: true });
  // The lock is the kernel's: it dies with its holder, so a killed install blocks nobody.
  const lock = await open(`${folder}.lock`, 'a+');
  try {
    if (!tryLock(lock.fd)) {
      say('Another process is installing n8n; waiting for it …');
      await waitForLock(lock.fd);
    }
    if (!existsSync(markerOf(folder))) await install(folder, say);
  } finally {
    await lock.close();
  }
  return runtimeIn(folder);
}

async function install(folder: string, say: (line: string) => void): Promise<void> {
  const startedAt = Date.now();
  say(`Installing n8n into ${folder} (once; about five minutes and 2 GB) …`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const name of manifestFiles) await copyFile(join(manifestFolder, name), join(folder, name));

  const log = join(folder, 'install.log');
  await runNpm(
    ['ci', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'],
    folder,
    log,
  );
  say('n8n is there; building sqlite3 …');
  try {
    await runNpm(['rebuild', 'sqlite3', '--ignore-scripts=false'], folder, log);
    await run(process.execPath, ['-e', "require('sqlite3')"], folder, log);
  } catch (error) {
    const missing = await missingTools(['make', 'g++', 'python3']);
    if (missing.length === 0) throw error;
    throw new Error(
      `sqlite3 had to be compiled for n8n, which needs ${missing.join(' and ')} (Debian: apt-get install -y build-essential python3).`,
    );
  }
  await writeFile(markerOf(folder), `${new Date().toISOString()} ${process.version}\n`);
  say(`n8n is installed, after ${Math.round((Date.now() - startedAt) / 1000)} s.`);
}

/**
 * Runs npm under this very Node, in a folder; its output goes to a log whose end an error shows.
 */
export function runNpm(args: readonly string[], folder: string, log: string): Promise<void> {
  const npmCli = process.env.npm_execpath;
  return npmCli?.endsWith('npm-cli.js')
    ? run(process.execPath, [npmCli, ...args], folder, log)
    : run('npm', args, folder, log);
}

async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  log: string,
): Promise<void> {
  const output = await open(log, 'a');
  try {
    // node-gyp downloads Node's headers unless told where they are; Node's npm package brings them.
    const prefix = dirname(dirname(process.execPath));
    const headers = existsSync(join(prefix, 'include', 'node', 'node_api.h'))
      ? { npm_config_nodedir: prefix }
      : {};
    const child = spawn(command, args, {
      cwd,
      env: cleanEnv(headers),
      stdio: ['ignore', output.fd, output.fd],
      shell: process.platform === 'win32' && command === 'npm',
    });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', resolve);
    });
    if (code !== 0) {
      throw new Error(
        `"${[command, ...args].join(' ')}" ended with ${code}; the end of ${log}:\n${await tailOf(log)}`,
      );
    }
  } finally {
    await output.close();
  }
}

async function missingTools(names: readonly string[]): Promise<string[]> {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const found = await Promise.all(
    names.map((name) =>
      Promise.any(folders.map((folder) => access(join(folder, name)))).then(
        () => true,
        () => false,
      ),
    ),
  );
  return names.filter((_, index) => !found[index]);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    const { folder } = await ensureRuntime();
    if (!process.argv.includes('--quiet')) console.log(folder);
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}
