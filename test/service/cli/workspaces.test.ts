import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../../service/src/app/config.ts';
import { startService, type Service } from '../../../service/src/app/service.ts';
import { apiClient, chatCustomer } from '../../helpers/apiClient.ts';
import { commandHere, type Ended } from '../../helpers/commandHere.ts';
import { BARE_ENV, freePort } from '../../helpers/program.ts';
import { freshStorage, type Storage } from '../../helpers/storage.ts';

const MAIN = fileURLToPath(new URL('../../../service/dist/main.js', import.meta.url));

describe('workspaces made on the command line', () => {
  let storage: Storage;
  let env: Record<string, string>;
  let url: string;
  let service: Service | undefined;
  beforeAll(async () => {
    storage = await freshStorage();
    const port = await freePort();
    url = `http://localhost:${port}`;
    env = { ...storage.env, PORT: String(port), LOG_LEVEL: 'silent' };
  });
  afterAll(async () => {
    await service?.stop();
    await storage?.remove();
  });

  const here = (...args: string[]) => commandHere(args, env);
  /** In a process of its own. */
  const command = (...args: string[]) =>
    new Promise<Ended>((resolve) => {
      execFile(
        process.execPath,
        [MAIN, ...args],
        { cwd: storage.folder, env: { ...BARE_ENV, ...env } },
        (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
      );
    });

  async function start() {
    service = await startService(readConfig(env));
  }
  const post = (path: string, fields: Record<string, string>) =>
    fetch(url + path, { method: 'POST', redirect: 'manual', body: new URLSearchParams(fields) });

  it('lists nothing where there is none', async () =>
    expect(await here('workspace', 'list')).toEqual({ code: 0, out: '', err: '' }));

  it('are apart from each other: slug, key, chat, and a first member who joins by the link', async () => {
    const first = await here('workspace', 'create', '--name', 'Acme & Söhne');
    expect([first.code, first.out]).toEqual([0, 'acme-sohne\n']);
    const second = await command('workspace', 'create', '--name', ' Acme & Söhne ');
    expect([second.code, second.out]).toEqual([0, 'acme-sohne-2\n']);
    expect((await here('workspace', 'list')).out).toMatch(
      /^ws_\w+ {2}acme-sohne {2}"Acme & Söhne" {2}created \S+\nws_\w+ {2}acme-sohne-2 {2}"Acme & Söhne" {2}created \S+\n$/,
    );

    const keyOf = async (slug: string) =>
      (await here('key', 'create', '--workspace', slug, '--name', 'n8n')).out.trim();
    const [one, two] = [
      apiClient(url, await keyOf('acme-sohne')),
      apiClient(url, await keyOf('acme-sohne-2')),
    ];

    await start();
    await (await chatCustomer(url, { workspace: 'acme-sohne-2' })).write('hello');
    expect([
      (await one.get('/api/conversations')).body.data.length,
      (await two.get('/api/conversations')).body.data.length,
    ]).toEqual([0, 1]);

    const link = second.err.match(/http:\/\/localhost:\d+\/join\?token=\S+/)![0];
    expect(new URL(link).origin).toBe(url);
    expect((await fetch(link)).status).toBe(200);
    const token = new URL(link).searchParams.get('token')!;
    const [email, password] = ['bo@example.com', 'correct horse'];
    const join = () => post('/join', { token, name: 'Bo', email, password });
    const joined = await join();
    expect(joined.status).toBe(303);
    const cookie = joined.headers.get('set-cookie')!.split(';')[0]!;
    const screen = await fetch(`${url}/conversations`, { headers: { cookie } });
    expect([screen.status, (await screen.text()).includes('hello')]).toEqual([200, true]);
    expect((await join()).status).toBe(404);
  });

  it('let an only owner choose another password, by a link from the machine', async () => {
    await service?.stop();
    const email = 'bo@example.com';
    const nobody = await here('member', 'reset-password', '--email', 'eve@example.com');
    expect(nobody).toEqual({
      code: 1,
      out: '',
      err: 'conversation-service: No member signs in with "eve@example.com".\n',
    });
    const { code, out, err } = await here('member', 'reset-password', '--email', ' BO@example.com');
    expect([code, err]).toEqual([
      0,
      'This link lets Bo choose another password, once, within 24 hours.\n',
    ]);
    const link = new URL(out.trim());
    expect([link.origin, link.pathname]).toEqual([url, '/reset-password']);

    await start();
    expect((await fetch(link)).status).toBe(200);
    const password = 'another horse';
    const token = link.searchParams.get('token')!;
    expect((await post('/reset-password', { token, password })).status).toBe(303);
    expect((await post('/sign-in', { email, password: 'correct horse' })).status).toBe(401);
    expect((await post('/sign-in', { email, password })).status).toBe(303);
  });

  it.each([
    [[], /required option '--name <name>'/],
    [['--name', '  '], /^conversation-service: --name must have 1 to 100 characters\.\n$/],
    [
      ['--name', 'x'.repeat(101)],
      /^conversation-service: --name must have 1 to 100 characters\.\n$/,
    ],
  ])('refuses workspace create %j in one line', async (args, problem) => {
    const { code, out, err } = await here('workspace', 'create', ...args);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(problem);
  });

  it('refuse a key without a name, which would be that of a sender', async () => {
    await service?.stop();
    const { code, err } = await here('key', 'create', '--name', ' ');
    expect(code).toBe(1);
    expect(err).toMatch(/^conversation-service: --name must have 1 to 100 characters\.\n$/);
  });
});
