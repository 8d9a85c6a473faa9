import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../../service/src/app/config.ts';
import { startService, type Service } from '../../../service/src/app/service.ts';
import { apiClient, chatCustomer, type ApiClient } from '../../helpers/apiClient.ts';
import { browserless, MEMBER } from '../../helpers/browserless.ts';
import { commandHere } from '../../helpers/commandHere.ts';
import { freePort, runCommand } from '../../helpers/program.ts';
import { freshStorage, type Storage } from '../../helpers/storage.ts';
import { teamOfTwo } from '../../helpers/teamOfTwo.ts';

describe('workspaces made on the command line', () => {
  let storage: Storage;
  let env: Record<string, string>;
  let url: string;
  let service: Service | undefined;
  let firstLink: string;
  let firstApi: ApiClient;
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
  async function start() {
    service = await startService(readConfig(env));
  }
  const post = (path: string, fields: Record<string, string>) =>
    fetch(url + path, { method: 'POST', redirect: 'manual', body: new URLSearchParams(fields) });

  const linkIn = (text: string) => text.match(/http:\/\/localhost:\d+\/join\?token=\S+/)![0];

  it('lists nothing where there is none', async () =>
    expect(await here('workspace', 'list')).toEqual({ code: 0, out: '', err: '' }));

  it('are apart from each other: slug, key, chat, and a first member who joins by the link', async () => {
    const first = await here('workspace', 'create', '--name', 'Acme & Söhne');
    expect([first.code, first.out]).toEqual([0, 'acme-sohne\n']);
    const second = await runCommand(['workspace', 'create', '--name', ' Acme & Söhne '], env);
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

    [firstApi, firstLink] = [one, linkIn(first.err)];
    const link = linkIn(second.err);
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

  it('give the service to the first member of the oldest, who stays its owner when removed', async () => {
    const token = new URL(firstLink).searchParams.get('token')!;
    await browserless(url).post('/join', { ...MEMBER, token, name: 'Ana' });
    const { ben, benId } = await teamOfTwo({ url, api: firstApi });
    const { body } = await firstApi.get('/api/members');
    const { id } = body.data.find((member: { id: string }) => member.id !== benId);
    await ben.get('/team');
    await ben.post(`/team/members/${id}/remove`);
    expect((await ben.get('/settings')).text).toContain('has left the team');
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

  const notAName = /^conversation-service: --name must have 1 to 100 characters\.\n$/;
  it.each([
    [['workspace', 'create'], /required option '--name <name>'/],
    [['workspace', 'create', '--name', '  '], notAName],
    [['workspace', 'create', '--name', 'x'.repeat(101)], notAName],
    [['key', 'create', '--name', ' '], notAName], // its name would be that of a sender
  ])('%j is refused in one line', async (args, problem) => {
    await service?.stop();
    const { code, out, err } = await here(...args);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(problem);
  });
});
