// The built service and its commands, on a store of a fixture.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apiClient, type ApiClient } from '../helpers/apiClient.ts';
import { cleanEnv, freePort, startProgram } from '../helpers/program.ts';
import { FIXTURE, FIXTURE_ENV } from './content.ts';

const MAIN = fileURLToPath(new URL('../../service/dist/main.js', import.meta.url));

export type StoreEnv = Readonly<Record<string, string>>;

/** @throws Error with what the command says, when it fails */
export const command = (folder: string, store: StoreEnv, ...args: string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const env = cleanEnv({ DATABASE_URL: '', DATABASE_SCHEMA: '', ...FIXTURE_ENV, ...store });
    execFile(
      process.execPath,
      [MAIN, ...args],
      { cwd: folder, env, maxBuffer: 1 << 28 },
      (error, out, err) =>
        error === null ? resolve(out) : reject(new Error(`${args.join(' ')}: ${err}`)),
    );
  });

/** Runs the service on a store for as long as `use` takes. */
export async function withService<T>(
  folder: string,
  store: StoreEnv,
  use: (url: string, api: ApiClient) => Promise<T>,
  more: StoreEnv = {},
): Promise<T> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const program = await startProgram({
    name: 'The service',
    script: MAIN,
    cwd: folder,
    env: {
      PORT: String(port),
      DATABASE_URL: '',
      DATABASE_SCHEMA: '',
      ...FIXTURE_ENV,
      ...store,
      ...more,
    },
    logFile: join(folder, 'service.log'),
  });
  try {
    await program.ready(() => fetch(`${url}/readyz`).then(({ ok }) => ok));
    return await use(url, apiClient(url, FIXTURE.apiKey));
  } finally {
    await program.stop();
  }
}
