import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface UpFolder {
  readonly folder: string;
  /** Runs the folder's deploy/up.sh. */
  run(options?: {
    readonly args?: readonly string[];
    /** Whether the engine says that the database's volume exists; false by default. */
    readonly volumeExists?: boolean;
  }): Promise<{ readonly code: number; readonly out: string; readonly err: string }>;
  readEnv(): Promise<string>;
  /** What `docker` was called with, a line each. */
  calls(): Promise<string[]>;
  remove(): Promise<void>;
}

/**
 * Copies what up.sh needs to a folder, with a `docker` that only writes down how it is called: no
 * container engine runs where these tests do.
 */
export async function upInFolder(): Promise<UpFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'conversation-service-'));
  await cp(join(root, 'deploy'), join(folder, 'deploy'), { recursive: true });
  await cp(join(root, 'compose.yaml'), join(folder, 'compose.yaml'));
  const bin = join(folder, 'bin');
  await mkdir(bin);
  await writeFile(
    join(bin, 'docker'),
    '#!/bin/sh\necho "$*" >>"$CALLS"\n[ "$1" != volume ] || [ "$VOLUME" = exists ]\n',
  );
  await chmod(join(bin, 'docker'), 0o755);
  return {
    folder,
    run: ({ args = [], volumeExists = false } = {}) =>
      new Promise((resolve) => {
        const env = {
          PATH: `${bin}:${process.env.PATH}`,
          CALLS: join(folder, 'calls'),
          VOLUME: volumeExists ? 'exists' : '',
        };
        execFile(
          'sh',
          [join(folder, 'deploy/up.sh'), ...args],
          { env, cwd: tmpdir() },
          (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
        );
      }),
    readEnv: () => readFile(join(folder, '.env'), 'utf8'),
    calls: async () => (await readFile(join(folder, 'calls'), 'utf8')).trim().split('\n'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
