import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { symlink, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../../service/src/app/config.ts';
import { startService, type Service } from '../../../service/src/app/service.ts';
import { apiClient, chatCustomer } from '../../helpers/apiClient.ts';
import { browserless } from '../../helpers/browserless.ts';
import { commandHere } from '../../helpers/commandHere.ts';
import { onEmbeddedStore } from '../../helpers/onEmbeddedStore.ts';
import { BARE_ENV } from '../../helpers/program.ts';
import { freshStorage, testDatabaseUrl, type Storage } from '../../helpers/storage.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const MAIN = fileURLToPath(new URL('../../../service/dist/main.js', import.meta.url));
const KEY = `cs_live_${'B'.repeat(32)}`;

interface Run {
  readonly child: ChildProcessWithoutNullStreams;
  out: string;
  err: string;
}

describe('the service as a process', () => {
  let storage: Storage;
  let folder: string;
  const running: Run[] = [];
  const runningHere: Service[] = [];

  beforeEach(async () => {
    storage = await freshStorage();
    ({ folder } = storage);
  });
  afterEach(async () => {
    for (const { child } of running.splice(0)) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
    }
    for (const service of runningHere.splice(0)) await service.stop();
    await storage.remove();
  });

  const follow = (child: ChildProcessWithoutNullStreams): Run => {
    const each: Run = { child, out: '', err: '' };
    child.stdout.on('data', (chunk) => (each.out += String(chunk)));
    child.stderr.on('data', (chunk) => (each.err += String(chunk)));
    running.push(each);
    return each;
  };
  const run = (args: string[] = [], env: Record<string, string> = {}): Run => {
    const child = spawn(process.execPath, [MAIN, ...args], {
      env: { ...BARE_ENV, PORT: '0', ...storage.env, ...env },
      cwd: folder,
    });
    return follow(child);
  };
  const npmStart = (): Run => {
    const npm = spawn('npm', ['start'], {
      cwd: fileURLToPath(new URL('../../..', import.meta.url)),
      env: { ...process.env, PORT: '0', ...storage.env, NODE_OPTIONS: '' },
      shell: process.platform === 'win32',
    });
    return follow(npm);
  };
  const ended = async ({ child }: Run): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return child.exitCode;
  };
  const started = (each: Run) =>
    waitFor(`the service to start (${each.err})`, () => {
      if (each.child.exitCode !== null) throw new Error(`it ended: ${each.err}${each.out}`);
      return /"url":"([^"]+)"/.exec(each.out)?.[1];
    });
  const setupLink = (each: Run) =>
    waitFor('the link', () => /http:\/\/localhost:\d+\/setup\?token=\S+/.exec(each.out)?.[0]);
  const command = async (...args: string[]) => {
    const each = run(args);
    return { code: await ended(each), out: each.out, err: each.err };
  };
  const here = (...args: string[]) => commandHere(args, storage.env);
  /** Starts the service in this process, on the same data. */
  const startHere = async (env: Record<string, string> = {}): Promise<Service> => {
    const settings = { PORT: '0', LOG_LEVEL: 'silent', ...storage.env, ...env };
    const service = await startService(readConfig(settings));
    runningHere.push(service);
    return service;
  };

  it('sets up by the one-time link: first member, workspace and key, once', async () => {
    const service = run();
    const url = await started(service);
    const link = await setupLink(service);
    const token = new URL(link).searchParams.get('token')!;
    const page = await fetch(link);
    expect(await page.text()).toContain('<form method="post"');
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect((await fetch(`${url}/setup?token=wrong`)).status).toBe(404);

    const post = (fields: Record<string, string>) =>
      fetch(`${url}/setup`, { method: 'POST', body: new URLSearchParams(fields) });
    const fields = {
      token,
      workspace: 'Acme <b>',
      name: '"Ana"',
      email: 'ana@example.com',
      password: 'correct horse',
    };
    const short = await post({ ...fields, password: 'short' });
    expect(short.status).toBe(400);
    expect(await short.text()).toMatch(
      /value="&quot;Ana&quot;"[\s\S]*Must have at least 10 characters/,
    );
    const answers = await Promise.all([post(fields), post(fields)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 404]);
    const text = await answers.find(({ status }) => status === 201)!.text();
    const key = /cs_live_[0-9A-Za-z]{32}/.exec(text)![0];
    expect((await apiClient(url, key).get('/api/hooks')).status).toBe(200);
    expect((await fetch(link)).status).toBe(404);
    await (await chatCustomer(url, { workspace: 'acme-b' })).write('hello');

    service.child.kill('SIGTERM');
    expect(await ended(service)).toBe(0);
    expect((await startHere()).setupUrl).toBeNull();
    expect(service.out + service.err).not.toContain(key);
  });

  it('makes workspace, member and key from the environment on an empty store only', async () => {
    const env = {
      BOOTSTRAP_API_KEY: KEY,
      BOOTSTRAP_WORKSPACE: 'Acme',
      BOOTSTRAP_ADMIN_EMAIL: 'ana@example.com',
      BOOTSTRAP_ADMIN_PASSWORD: 'correct horse',
    };
    const service = run([], env);
    const url = await started(service);
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'alive' });
    expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ status: 'ready' });
    expect(service.out).not.toContain('/setup?token=');
    expect((await apiClient(url, KEY).get('/api/hooks')).status).toBe(200);
    service.child.kill('SIGTERM');
    await ended(service);
    const other = `cs_live_${'C'.repeat(32)}`;
    const { url: secondUrl } = await startHere({ ...env, BOOTSTRAP_API_KEY: other });
    expect((await apiClient(secondUrl, other).get('/api/hooks')).status).toBe(401);
    expect((await apiClient(secondUrl, KEY).get('/api/hooks')).status).toBe(200);
  });

  it('key create, list and revoke work on a stopped service, and a revoked key opens nothing', async () => {
    const made = await here('key', 'create', '--name', 'n8n');
    expect(made.code).toBe(0);
    const key = made.out.trim();
    expect(key).toMatch(/^cs_live_[0-9A-Za-z]{32}$/);
    const limited = await command(
      ...['key', 'create', '--name', 'crm', '--reveal-contacts', '--expires-in', '30'],
      ...['--allow', 'conversations:read,tools:write'],
    );
    expect(limited.code).toBe(0);
    const limitedKey = limited.out.trim();
    const permissions = 'conversations:read {2}tools:write {2}contacts:reveal';
    const list = await here('key', 'list');
    expect(list.out).toMatch(
      new RegExp(`^key_\\w+ {2}cs_live_…${key.slice(-4)} {2}"n8n" .*last used never {2}active\n`),
    );
    expect(list.out).toMatch(
      new RegExp(`…${limitedKey.slice(-4)} {2}"crm" .* ${permissions} {2}active until `),
    );
    expect(list.out).not.toContain(key);
    for (const [option, value] of [
      ['--allow', 'everything'],
      ['--expires-in', 'soon'],
    ] as const)
      expect((await here('key', 'create', '--name', 'x', option, value)).code).not.toBe(0);

    const service = await startHere();
    expect(service.setupUrl).not.toBeNull(); // no member exists yet
    expect((await apiClient(service.url, key).get('/api/hooks')).status).toBe(200);
    const limitedApi = apiClient(service.url, limitedKey);
    expect((await limitedApi.get('/api/conversations')).status).toBe(200);
    expect((await limitedApi.get('/api/hooks')).status).toBe(403);
    // A folder belongs to one process; a database lets everybody in.
    const during = await here('key', 'list');
    if (testDatabaseUrl() === null) {
      expect(during.code).toBe(1);
      expect(during.err).toContain(`process ${process.pid}.`);
      expect(during.err.trim().split('\n')).toHaveLength(1);
    } else expect(during.out).toContain(key.slice(-4));
    await service.stop();

    const { out } = await here('key', 'list');
    expect(out).not.toContain('last used never');
    const id = /^key_\w+/.exec(out)![0];
    expect((await here('key', 'revoke', id)).code).toBe(0);
    expect((await here('key', 'revoke', 'key_nothing')).code).toBe(1);
    const again = await startHere();
    expect((await apiClient(again.url, key).get('/api/hooks')).status).toBe(401);
  });

  it.each([['bakup', '--to', 'backups'], ['--prot=80']])(
    'is not started by a command or an option that does not exist: %s',
    async (...args) => {
      const { code, err } = await here(...args);
      expect(code).toBe(1);
      expect(err).toBe(
        `conversation-service: There is no command or option "${args[0]}". \`conversation-service --help\` lists all.\n`,
      );
    },
  );

  it('stops with one line that names a wrong variable', async () => {
    const service = run([], { PORT: 'http' });
    expect(await ended(service)).toBe(1);
    expect(service.err).toBe('conversation-service: PORT must be a whole number.\n');
  });

  it('does not start when .env cannot be read, since its settings would be missing', async () => {
    await symlink('.env', join(folder, '.env'));
    const service = run();
    expect(await ended(service)).toBe(1);
    expect(service.err).toMatch(/^conversation-service: \.env cannot be read: ELOOP.*\n$/);
  });

  // For a folder that is taken, see test/service/crash/dataFolder.test.ts.
  it('says in one line when the port is taken', async () => {
    const holder = createServer().listen(0);
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const service = run([], { PORT: String(port) });
    expect(await ended(service)).toBe(1);
    holder.close();
    expect(service.err).toMatch(
      new RegExp(`^conversation-service: Port ${port} .*is in use.*PORT.*\n$`),
    );
  });

  it('names HOST and PORT when it cannot listen there', () =>
    expect(startHere({ HOST: '192.0.2.1' })).rejects.toThrow(
      /^The service cannot listen on HOST 192\.0\.2\.1 and PORT 0: listen EADDRNOTAVAIL/,
    ));

  onEmbeddedStore(it)('says in one line that DATA_DIR cannot be used', async () => {
    await writeFile(join(folder, 'file'), '');
    const { code, err } = await commandHere(['key', 'list'], { DATA_DIR: join(folder, 'file') });
    expect(code).toBe(1);
    expect(err).toMatch(/^conversation-service: DATA_DIR .* cannot be used: .*\n$/);
  });

  it('serves an n8n on the same machine after npm start and the setup form, with no variable set, and ends in order when npm is stopped', async () => {
    const held: ServerResponse[] = [];
    const n8n = createServer((request, response) => {
      request.resume();
      held.push(response);
    }).listen(0, 'localhost');
    try {
      await once(n8n, 'listening');
      const { port } = n8n.address() as AddressInfo;
      const service = npmStart();
      const url = await started(service);
      const visitor = browserless(url);
      const form = await visitor.get(await setupLink(service));
      expect(form.html).toMatch(/value="this_machine" checked/);
      const ready = await visitor.post('/setup', {
        token: form.value('token')!,
        workspace: 'Acme',
        name: 'Ana',
        email: 'ana@example.com',
        password: 'correct horse battery',
        n8n: 'this_machine',
        n8n_port: String(port),
      });
      const api = apiClient(url, /cs_live_[0-9A-Za-z]{32}/.exec(ready.html)![0]);
      const target = `http://localhost:${port}/webhook/7d1c`;
      const wanted = { event: 'message.received', target_url: target };
      expect((await api.post('/api/hooks', wanted)).status).toBe(201);
      await (await chatCustomer(url)).write('hello');
      await waitFor('the event', () => held[0]);
      expect(held[0]!.req.headers['x-service-event']).toBe('message.received');

      service.child.kill('SIGTERM');
      await waitFor('the service to take no more requests', () =>
        fetch(`${url}/healthz`).then(
          () => false,
          () => true,
        ),
      );
      expect(service.out).not.toContain('"msg":"stopped"');
      held[0]!.end('ok');
      await waitFor('the service to have stopped', () => service.out.includes('"msg":"stopped"'));
    } finally {
      n8n.close();
      n8n.closeAllConnections();
    }
    await waitFor(
      'the folder to be free again',
      async () => (await here('key', 'create', '--name', 'n8n')).code === 0,
    );
  });
});
