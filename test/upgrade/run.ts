// The built service and its commands, on a store of a fixture.
import { join } from 'node:path';
import { apiClient, type ApiClient } from '../helpers/apiClient.ts';
import { freePort, MAIN, runCommand, startProgram } from '../helpers/program.ts';
import { FIXTURE, FIXTURE_ENV } from './content.ts';

export type StoreEnv = Readonly<Record<string, string>>;

/** @throws Error with what the command says, when it fails */
export async function command(folder: string, store: StoreEnv, ...args: string[]): Promise<void> {
  const { code, err } = await runCommand(args, { ...FIXTURE_ENV, ...store }, { cwd: folder });
  if (code !== 0) throw new Error(`${args.join(' ')}: ${err}`);
}

/** Runs the service on a store for as long as `use` takes. */
export async function withService<T>(
  folder: string,
  store: StoreEnv,
  use: (url: string, api: ApiClient) => Promise<T>,
  settings: Readonly<Record<string, string>> = {},
): Promise<T> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const program = await startProgram({
    name: 'The service',
    script: MAIN,
    cwd: folder,
    env: {
      PORT: String(port),
      // The program inherits the environment, which may name the tests' own store.
      DATABASE_URL: '',
      DATABASE_SCHEMA: '',
      ...FIXTURE_ENV,
      ...store,
      ...settings,
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
