import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient, chatCustomer } from '../../helpers/apiClient.ts';
import { BARE_ENV, freePort, startProgram, type Program } from '../../helpers/program.ts';
import { freshStorage, type Storage } from '../../helpers/storage.ts';

const MAIN = fileURLToPath(new URL('../../../service/dist/main.js', import.meta.url));

describe('workspaces made on the command line', () => {
  let storage: Storage;
  let env: Record<string, string>;
  let url: string;
  let service: Program | undefined;
  beforeAll(async () => {
    storage = await freshStorage();
    const port = await freePort();
    url = `http://localhost:${port}`;
    env = { ...storage.env, PORT: String(port), LOG_LEVEL: 'warn' };
  });
  afterAll(async () => {
    await service?.stop();
    await storage?.remove();
  });

  const command = (...args: string[]) =>
    new Promise<{ code: number; out: string; err: string }>((resolve) => {
      execFile(
        process.execPath,
        [MAIN, ...args],
        { cwd: storage.folder, env: { ...BARE_ENV, ...env } },
        (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
      );
    });

  it('lists nothing where there is none', async () =>
    expect(await command('workspace', 'list')).toEqual({ code: 0, out: '', err: '' }));

  it('are apart from each other: slug, key, chat, and a first member who joins by the link', async () => {
    const first = await command('workspace', 'create', '--name', 'Acme & Söhne');
    expect([first.code, first.out]).toEqual([0, 'acme-sohne\n']);
    const second = await command('workspace', 'create', '--name', ' Acme & Söhne ');
    expect([second.code, second.out]).toEqual([0, 'acme-sohne-2\n']);
    expect((await command('workspace', 'list')).out).toMatch(
      /^ws_\w+ {2}acme-sohne {2}"Acme & Söhne" {2}created \S+\nws_\w+ {2}acme-sohne-2 {2}"Acme & Söhne" {2}created \S+\n$/,
    );

    const keyOf = async (slug: string) =>
      (await command('key', 'create', '--workspace', slug, '--name', 'n8n')).out.trim();
    const [one, two] = [
      apiClient(url, await keyOf('acme-sohne')),
      apiClient(url, await keyOf('acme-sohne-2')),
    ];

    service = await startProgram({
      name: 'The service',
      script: MAIN,
      cwd: storage.folder,
      env,
      logFile: `${storage.folder}/service.log`,
    });
    await service.ready(() => fetch(`${url}/readyz`).then(({ ok }) => ok));

    await (await chatCustomer(url, { workspace: 'acme-sohne-2' })).write('hello');
    expect([
      (await one.get('/api/conversations')).body.data.length,
      (await two.get('/api/conversations')).body.data.length,
    ]).toEqual([0, 1]);

    const link = second.err.match(/http:\/\/localhost:\d+\/join\?token=\S+/)![0];
    expect(new URL(link).origin).toBe(url);
    expect((await fetch(link)).status).toBe(200);
    const join = () =>
      fetch(`${url}/join`, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({
          token: new URL(link).searchParams.get('token')!,
          name: 'Bo',
          email: 'bo@example.com',
          password: 'correct horse',
        }),
      });
    const joined = await join();
    expect(joined.status).toBe(303);
    const cookie = joined.headers.get('set-cookie')!.split(';')[0]!;
    const screen = await fetch(`${url}/conversations`, { headers: { cookie } });
    expect([screen.status, (await screen.text()).includes('hello')]).toEqual([200, true]);
    expect((await join()).status).toBe(404);
  });

  it.each([
    [[], /required option '--name <name>'/],
    [['--name', '  '], /^conversation-service: --name must have 1 to 100 characters\.\n$/],
    [
      ['--name', 'x'.repeat(101)],
      /^conversation-service: --name must have 1 to 100 characters\.\n$/,
    ],
  ])('refuses workspace create %j in one line', async (args, problem) => {
    const { code, out, err } = await command('workspace', 'create', ...args);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(problem);
  });
});
