// Where n8n runs: the question at the first start, the settings, and the targets that they allow.
import { createServer } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { apiClient, chatCustomer, type ApiClient } from '../../../helpers/apiClient.ts';
import {
  browserless,
  MEMBER_ENV,
  signedInBrowser,
  type Browserless,
} from '../../../helpers/browserless.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { BEN, teamOfTwo } from '../../../helpers/teamOfTwo.ts';
import { listenTracked, type TrackedServer } from '../../../helpers/trackedServer.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import { sides } from '../../races/sides.ts';

const UNSET = { BOOTSTRAP_API_KEY: '', BOOTSTRAP_WORKSPACE: '', ALLOWED_NETWORKS: '' };

/** Stands for an n8n without TLS. */
async function startN8n() {
  const events: string[] = [];
  const server = await listenTracked(
    createServer((request, response) => {
      request.resume();
      events.push(String(request.headers['x-service-event']));
      response.end('ok');
    }),
    0,
    '127.0.0.1',
  );
  return Object.assign(server, { events });
}

const subscribe = (api: ApiClient, target: string, event = 'message.received') =>
  api.post('/api/hooks', { event, target_url: target });

describe('the setup form', () => {
  let service: TestService;
  let n8n: TrackedServer & { events: string[] };
  let visitor: Browserless;
  let token: string;
  beforeEach(async () => {
    [service, n8n] = await Promise.all([startTestService({ env: UNSET }), startN8n()]);
    visitor = browserless(service.url);
    token = new URL(service.setupUrl!).searchParams.get('token')!;
  });
  afterEach(async () => {
    await service?.stop();
    await n8n?.close();
  });

  const setUp = (choice: Record<string, string>) =>
    visitor.post('/setup', {
      token,
      workspace: 'Acme',
      name: 'Ana',
      email: 'ana@example.com',
      password: 'correct horse battery',
      ...choice,
    });
  const keyIn = (html: string) => /cs_live_[0-9A-Za-z]{32}/.exec(html)![0];

  it('asks where n8n runs; a service for this machine proposes this machine and n8n’s port', async () => {
    const { html, text } = await visitor.get(`/setup?token=${token}`);
    expect(text).toContain('Where does n8n run?');
    expect(html).toMatch(/value="this_machine" checked/);
    expect(html).toContain('name="n8n_port"');
    expect(html).toContain('value="5678"');
  });

  it('opens the n8n of this machine: its events arrive over http without a variable', async () => {
    const ready = await setUp({ n8n: 'this_machine', n8n_port: String(n8n.port) });
    expect(ready.status).toBe(201);
    const api = apiClient(service.url, keyIn(ready.html));
    const target = `http://localhost:${n8n.port}/webhook/7d1c`;
    expect((await subscribe(api, target)).status).toBe(201);
    expect((await subscribe(api, `http://127.0.0.1:${n8n.port}/x`)).status).toBe(201);
    expect(await subscribe(api, `http://localhost:${n8n.port + 1}/x`)).toMatchObject({
      status: 422,
      body: { error: { code: 'target_url_not_https' } },
    });
    await (await chatCustomer(service.url)).write('hello');
    await waitFor('the event', () => n8n.events.length >= 2);
    await service.restart();
    await (await chatCustomer(service.url)).write('hello again');
    await waitFor('the event after a restart', () => n8n.events.length >= 4);
  });

  it('says beside the field what is wrong, keeps what was typed and creates nothing', async () => {
    for (const [n8n, field, typed, problem] of [
      ['this_machine', 'n8n_port', '0', /port from 1 to 65535/],
      ['this_machine', 'n8n_port', 'x', /port from 1 to 65535/],
      ['private_network', 'n8n_address', '', /Enter the address of n8n/],
      ['private_network', 'n8n_address', 'n 8 n', /Enter the address/],
      ['private_network', 'n8n_address', 'http://169.254.169.254', /metadata.*cannot be opened/],
      ['private_network', 'n8n_address', 'http://169.254.7.7:5678', /link-local.*cannot be opened/],
      ['private_network', 'n8n_address', 'http://1.1.1.1:5678', /public address.*https/],
      [
        'private_network',
        'n8n_address',
        'http://n8n.invalid:5678',
        /not be resolved.*Check the name/,
      ],
      ['elsewhere', 'n8n', '', /Choose where n8n runs/],
    ] as const) {
      const page = await setUp({ n8n, ...(field !== 'n8n' && { [field]: typed }) });
      expect([typed, page.status]).toEqual([typed, 400]);
      expect(page.problem(field)).toMatch(problem);
      expect(page.value('name')).toBe('Ana');
      if (field === 'n8n_address') expect(page.value(field) ?? '').toBe(typed);
    }
    expect((await visitor.get(`/setup?token=${token}`)).status).toBe(200);
  });

  it('does not look a name up for a link that does not work', async () => {
    const page = await setUp({ n8n: 'private_network', n8n_address: 'n8n.invalid', token: 'no' });
    expect(page.status).toBe(404);
  });

  it.each([
    ['a public address', { n8n: 'public' }],
    ['no answer, from a program', {}],
  ])('opens nothing for %s', async (_name, choice: Record<string, string>) => {
    const ready = await setUp(choice);
    expect(ready.status).toBe(201);
    const api = apiClient(service.url, keyIn(ready.html));
    expect((await subscribe(api, `http://localhost:${n8n.port}/x`)).status).toBe(422);
    expect((await subscribe(api, `https://localhost:${n8n.port}/x`)).status).toBe(422);
  });

  it('does not ask when the environment says where n8n runs', async () => {
    await service.restart({ N8N_URL: `http://localhost:${n8n.port}` });
    visitor = browserless(service.url);
    token = new URL(service.setupUrl!).searchParams.get('token')!;
    expect((await visitor.get(`/setup?token=${token}`)).text).not.toContain('Where does n8n run');
    const ready = await setUp({ n8n: 'this_machine', n8n_port: '1' });
    const api = apiClient(service.url, keyIn(ready.html));
    expect((await subscribe(api, `http://localhost:${n8n.port}/x`)).status).toBe(201);
    expect((await subscribe(api, 'http://localhost:1/x')).status).toBe(422);
  });
});

describe('the settings', () => {
  let service: TestService;
  let n8n: TrackedServer & { events: string[] };
  let ana: Browserless;
  let log: string;
  beforeEach(async () => {
    log = '';
    const write = (line: string) => void (log += line);
    [service, n8n] = await Promise.all([
      startTestService({
        env: { ...MEMBER_ENV, ALLOWED_NETWORKS: '' },
        log: pino({ level: 'info' }, { write }),
      }),
      startN8n(),
    ]);
    ana = await signedInBrowser(service.url);
    await ana.get('/settings');
  });
  afterEach(async () => {
    await service?.stop();
    await n8n?.close();
  });

  const choose = (browser: Browserless, values: Record<string, string>) =>
    browser.post('/settings/n8n', values);
  const local = () => ({ n8n: 'this_machine', n8n_port: String(n8n.port) });

  it('say that nobody has chosen, then what was chosen and by whom; a choice takes effect at once', async () => {
    expect((await ana.get('/settings')).text).toContain('Nobody has chosen yet.');
    const target = `http://localhost:${n8n.port}/webhook/x`;
    expect((await subscribe(service.api, target)).status).toBe(422);
    const saved = await choose(ana, local());
    expect(saved.path).toBe('/settings?notice=saved');
    expect(saved.text).toContain(`On this machine, at port ${n8n.port}. Chosen by ana`);
    expect(saved.html).toMatch(/value="this_machine" checked/);
    expect((await subscribe(service.api, target)).status).toBe(201);
    await (await chatCustomer(service.url)).write('hello');
    await waitFor('the event', () => n8n.events.length === 1);
    await choose(ana, { n8n: 'public' });
    expect((await ana.get('/settings')).text).toContain('At a public https:// address.');
    expect((await subscribe(service.api, target)).status).toBe(422);
    const { body } = await service.api.get('/api/hooks');
    await (await chatCustomer(service.url)).write('not sent');
    const refused = await waitFor('the refusal', async () => {
      const { data } = (await service.api.get(`/api/hooks/${body.data[0].id}/deliveries`)).body;
      return data[0].attempts[0];
    });
    expect(refused).toMatchObject({ status_code: null, error: expect.stringMatching(/https/) });
    expect(n8n.events).toHaveLength(1);
  });

  it('write each change to the log, with who made it', async () => {
    await choose(ana, local());
    await choose(ana, { n8n: 'private_network', n8n_address: '192.168.1.20' });
    const lines = log.match(/.*the address of n8n changed.*/g)!.map((line) => JSON.parse(line));
    const member = expect.stringMatching(/^mbr_/);
    expect(lines).toMatchObject([
      { member, from: null, to: `http://localhost:${n8n.port}` },
      { member, from: `http://localhost:${n8n.port}`, to: 'http://192.168.1.20:5678' },
    ]);
  });

  it('read an address however it is typed', async () => {
    for (const [typed, origin] of [
      ['192.168.1.20', 'http://192.168.1.20:5678'],
      ['192.168.1.20:80', 'http://192.168.1.20'],
      ['192.168.1.20:8080?x', 'http://192.168.1.20:8080'],
      [' http://192.168.1.20/home ', 'http://192.168.1.20'],
      ['HTTPS://192.168.1.20:8443/webhook/x?y#z', 'https://192.168.1.20:8443'],
      ['[fd12::5]:5678', 'http://[fd12::5]:5678'],
      ['[fd12::5]', 'http://[fd12::5]:5678'],
    ] as const) {
      const saved = await choose(ana, { n8n: 'private_network', n8n_address: typed });
      expect(saved.text).toContain(`At ${origin}. Chosen by`);
      expect(saved.value('n8n_address')).toBe(origin);
      const target = `${origin}/${encodeURIComponent(typed)}`;
      expect((await subscribe(service.api, target)).status).toBe(201);
    }
  });

  it('recognize this machine, however its address is typed', async () => {
    for (const typed of ['localhost', 'http://127.0.0.1:5678', '[::1]:5678', '127.1']) {
      const saved = await choose(ana, { n8n: 'private_network', n8n_address: typed });
      expect(saved.text).toContain('On this machine, at port 5678.');
      expect((await subscribe(service.api, 'http://127.0.0.1:6000/x')).status).toBe(422);
    }
  });

  it('show a refused form again and change nothing', async () => {
    await choose(ana, local());
    const page = await choose(ana, {
      n8n: 'private_network',
      n8n_address: 'http://169.254.169.254',
    });
    expect(page.status).toBe(400);
    expect(page.problem('n8n_address')).toMatch(/metadata/);
    expect(page.value('n8n_address')).toBe('http://169.254.169.254');
    expect((await ana.get('/settings')).text).toContain(`at port ${n8n.port}.`);
  });

  it('can be changed only by the owner', async () => {
    const { ben } = await teamOfTwo(service, 'member');
    const { html, text } = await ben.get('/settings');
    expect(text).toContain('Only ana, who set up this service, can change it.');
    expect(html).not.toContain('name="n8n"');
    await ben.get('/team');
    expect((await choose(ben, local())).status).toBe(403);
    expect((await ana.get('/settings')).text).toContain('Nobody has chosen yet.');
  });

  it('do not pass to somebody who removes the owner', async () => {
    const { ben, benId } = await teamOfTwo(service, 'owner');
    const { body } = await service.api.get('/api/members');
    const anaId = body.data.find(({ id }: { id: string }) => id !== benId).id;
    await ben.get('/team');
    await ben.post(`/team/members/${anaId}/remove`);
    expect((await ben.get('/settings')).text).toContain('has left the team');
    expect((await choose(ben, local())).status).toBe(403);
    await service.restart();
    const again = await signedInBrowser(service.url, BEN);
    expect((await again.get('/settings')).text).toContain('has left the team');
    await again.get('/team');
    expect((await choose(again, local())).status).toBe(403);
  });

  it('only say that the environment decides, when it does', async () => {
    await choose(ana, { n8n: 'private_network', n8n_address: '192.168.1.20' });
    await service.restart({ N8N_URL: `http://127.0.0.1:${n8n.port}` });
    ana = await signedInBrowser(service.url);
    const page = await ana.get('/settings');
    expect(page.text).toContain(`On this machine, at port ${n8n.port}. The environment decides`);
    expect(page.html).not.toContain('name="n8n"');
    await ana.get('/team');
    expect((await choose(ana, local())).status).toBe(403);
    expect((await subscribe(service.api, `http://localhost:${n8n.port}/x`)).status).toBe(201);
    expect((await subscribe(service.api, 'http://192.168.1.20:5678/x')).status).toBe(422);
    await service.restart();
    expect((await subscribe(service.api, `http://localhost:${n8n.port}/y`)).status).toBe(422);
    expect((await subscribe(service.api, 'http://192.168.1.20:5678/x')).status).toBe(201);
  });
});

describe('the settings, from several processes', () => {
  const service = sides({ env: () => ({ ...MEMBER_ENV, ALLOWED_NETWORKS: '' }) });
  let n8n: TrackedServer & { events: string[] };
  beforeAll(async () => {
    n8n = await startN8n();
  });
  afterAll(() => n8n?.close());

  it('soon take effect in every process', async () => {
    const { url, api: first } = service;
    const apis = [first, service.api, service.api];
    const ana = await signedInBrowser(url);
    const target = `http://localhost:${n8n.port}`;
    for (const isOpen of [true, false, true]) {
      await ana.get('/settings');
      await ana.post('/settings/n8n', {
        n8n: isOpen ? 'this_machine' : 'public',
        n8n_port: String(n8n.port),
      });
      await waitFor('every process to know', async () => {
        const answers = await Promise.all(
          apis.map((api, n) => subscribe(api, `${target}/${n}`, 'conversation.opened')),
        );
        // 409: subscribed in the round before
        return answers.every(({ status }) => (status === 422) !== isOpen);
      });
    }
  });

  it('end with what was stored last, however many change them at once', async () => {
    const browsers = await Promise.all([1, 2, 3, 4].map(() => signedInBrowser(service.url)));
    await Promise.all(browsers.map((each) => each.get('/settings')));
    await Promise.all(
      browsers.map((each, n) =>
        each.post('/settings/n8n', { n8n: 'this_machine', n8n_port: String(7000 + n) }),
      ),
    );
    const { text } = await browsers[0]!.get('/settings');
    const port = Number(/at port (\d+)/.exec(text)![1]);
    for (const api of [service.api, service.api])
      await waitFor('only the stored port to be open', async () => {
        const open = await Promise.all(
          [7000, 7001, 7002, 7003].map(async (each) => {
            const { status } = await subscribe(api, `http://localhost:${each}/`, 'message.sent');
            return status !== 422;
          }),
        );
        return open.every((isOpen, n) => isOpen === (port === 7000 + n));
      });
  });
});
