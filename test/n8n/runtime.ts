/**
 * The n8n that the tests and the demo run: pinned by runtime/package-lock.json, never installed by
 * `npm ci` at the root.
 *
 * `node test/n8n/runtime.ts` installs it and prints where it is; `--quiet` does not print that.
 */
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  ensureInstalled,
  folderOf,
  isComplete,
  run,
  runNpm,
  type PinnedPackages,
} from '../helpers/pinnedPackages.ts';

const N8N: PinnedPackages = {
  name: 'n8n',
  manifestFolder: fileURLToPath(new URL('runtime/', import.meta.url)),
  cost: 'about five minutes and 2 GB',
  finish: buildSqlite,
};

export interface Runtime {
  /** The installation; `node_modules/n8n` lies in it. */
  readonly folder: string;
  /** n8n's entry point, a script for this very Node. */
  readonly bin: string;
}

/** Whether the pinned runtime is installed completely. */
export const isRuntimeInstalled = async () => isComplete(await folderOf(N8N));

/**
 * The pinned runtime; installs it first when it is missing.
 * @param say gets lines for a person, which say why it takes so long
 */
export async function ensureRuntime(say?: (line: string) => void): Promise<Runtime> {
  const folder = await ensureInstalled(N8N, say);
  return { folder, bin: join(folder, 'node_modules', 'n8n', 'bin', 'n8n') };
}

async function buildSqlite(folder: string, log: string): Promise<void> {
  try {
    await runNpm(['rebuild', 'sqlite3', '--ignore-scripts=false'], folder, log);
    await run(process.execPath, ['-e', "require('sqlite3')"], folder, log);
  } catch (error) {
    const missing = await missingTools(['make', 'g++', 'python3']);
    if (missing.length === 0) throw error;
    throw new Error(
      `n8n needs sqlite3 compiled, which needs ${missing.join(' and ')} (Debian: apt-get install -y build-essential python3).`,
    );
  }
}

async function missingTools(names: readonly string[]): Promise<string[]> {
  const found = await Promise.all(names.map(isOnPath));
  return names.filter((_, index) => !found[index]);
}

async function isOnPath(name: string): Promise<boolean> {
  const folders = (process.env.PATH ?? '').split(delimiter);
  try {
    await Promise.any(folders.map((folder) => access(join(folder, name))));
    return true;
  } catch {
    return false;
  }
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
