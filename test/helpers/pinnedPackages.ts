/**
 * Packages that a check needs and that must not lie in the repository, where linters and n8n-node's
 * build would find them: pinned by a package-lock.json here and installed once into a user-level
 * cache folder.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { cleanEnv, tailOf } from './program.ts';

const { waitForLock, tryLock } = createRequire(import.meta.url)('fs-native-extensions') as {
  tryLock(fd: number): boolean;
  waitForLock(fd: number): Promise<void>;
};

const MANIFEST_FILES = ['package.json', 'package-lock.json'];

export interface PinnedPackages {
  /** What they are, in the name of their folder and in messages. */
  readonly name: string;
  /** The folder of the package.json and package-lock.json that pin them. */
  readonly manifestFolder: string;
  /** For a person, such as "about five minutes and 2 GB". */
  readonly cost: string;
  /** What is left to do after `npm ci`, which runs no scripts of packages. */
  readonly finish?: (folder: string, log: string) => Promise<void>;
}

/** Where the packages live, installed or not: another lock file, another folder. */
export async function folderOf({
  name,
  manifestFolder,
}: Pick<PinnedPackages, 'name' | 'manifestFolder'>): Promise<string> {
  const hash = createHash('sha256');
  for (const file of MANIFEST_FILES) hash.update(await readFile(join(manifestFolder, file)));
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return join(cache, 'conversation-service', `${name}-${hash.digest('hex').slice(0, 16)}`);
}

/** Written last: an installation without it was interrupted and is done again. */
const markerOf = (folder: string) => join(folder, 'complete');

/** Whether a folder's packages are there and whole. */
export const isComplete = (folder: string): boolean => existsSync(markerOf(folder));

/**
 * The folder with the packages' `node_modules`; installs them first when they are missing. Two
 * callers at once: one installs, the other waits for it.
 * @param say gets lines for a person, which say why it takes so long
 */
export async function ensureInstalled(
  packages: PinnedPackages,
  say: (line: string) => void = console.log,
): Promise<string> {
  const folder = await folderOf(packages);
  if (isComplete(folder)) return folder;
  await mkdir(dirname(folder), { recursive: true });
  // The lock is the kernel's: it dies with its holder, so a killed install blocks nobody.
  const lock = await open(`${folder}.lock`, 'a+');
  try {
    if (!tryLock(lock.fd)) {
      say(`Another process is installing ${packages.name}; waiting for it …`);
      await waitForLock(lock.fd);
    }
    if (!isComplete(folder)) await install(packages, folder, say);
  } finally {
    await lock.close();
  }
  return folder;
}

async function install(
  { name, manifestFolder, cost, finish }: PinnedPackages,
  folder: string,
  say: (line: string) => void,
): Promise<void> {
  const startedAt = Date.now();
  say(`Installing ${name} into ${folder} (once; ${cost}) …`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const file of MANIFEST_FILES) await copyFile(join(manifestFolder, file), join(folder, file));
  const log = join(folder, 'install.log');
  await runNpm(
    ['ci', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'],
    folder,
    log,
  );
  await finish?.(folder, log);
  await writeFile(markerOf(folder), `${new Date().toISOString()} ${process.version}\n`);
  say(`${name} is installed, after ${Math.round((Date.now() - startedAt) / 1000)} s.`);
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

/** Runs a command in a folder; its output goes to a log whose end an error shows. */
export async function run(
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
