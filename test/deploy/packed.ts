// Both packages as npm would publish them, and a folder of a user who installs one.
import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cleanEnv } from '../helpers/program.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Packed {
  /** The tarball. */
  readonly file: string;
  readonly name: string;
  readonly version: string;
  /** The paths in it, sorted. */
  readonly paths: readonly string[];
}

interface PackReport {
  readonly filename: string;
  readonly name: string;
  readonly version: string;
  readonly files: readonly { readonly path: string }[];
}

/** @param folder `service`, or `.` for the nodes. Both must be built. */
export async function pack(folder: string, to: string): Promise<Packed> {
  const { stdout } = await run(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', to],
    {
      cwd: join(root, folder),
      env: cleanEnv(),
      maxBuffer: 1 << 26,
    },
  );
  const [{ filename, name, version, files }] = JSON.parse(stdout) as [PackReport];
  return { file: join(to, filename), name, version, paths: files.map(({ path }) => path).sort() };
}

/** Installs a tarball in an empty folder, as `npm install` does for a user. */
export async function installInEmptyFolder(tarball: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'conversation-user-'));
  await run('npm', ['install', '--no-audit', '--no-fund', tarball], {
    cwd: folder,
    env: cleanEnv(),
    maxBuffer: 1 << 26,
  });
  return folder;
}
