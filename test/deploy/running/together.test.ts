import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient, chatCustomer } from '../../helpers/apiClient.ts';
import { readChatStream } from '../../helpers/chatStreamReader.ts';
import { freePort, startProgram, type Program } from '../../helpers/program.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { query } from '../../postgres/client.ts';
import { findPostgres } from '../../postgres/programs.ts';
import { startPostgres, type PostgresServer } from '../../postgres/server.ts';
import { readCompose, readEnvFile, type ComposeFile } from '../composeFile.ts';
import { upInFolder } from '../upInFolder.ts';
import { findProgram, startCaddy, type Proxy } from './proxies.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);
const caddy = findProgram('caddy');
const postgres = findPostgres();
const describeHere = caddy !== null && postgres !== null ? describe : describe.skip;

/** With characters that a shell and SQL must not read as their own. */
const N8N_PASSWORD = `it's "one`;

/**
 * The four processes with the settings of compose.yaml, its database and its proxy: all but the
 * containers and n8n.
 */
describeHere('what compose.yaml starts, as processes', () => {
  let folder: string;
  let env: Record<string, string>;
  let compose: ComposeFile;
  let server: PostgresServer;
  let proxy: Proxy;
  /** Stands for n8n. */
  let receiver: Server;
  const received: string[] = [];
  const ports: Record<string, number> = {};
  const programs: Record<string, Program> = {};

  const psql = (...args: string[]) =>
    run(join(postgres!, 'psql'), ['--no-psqlrc', '-v', 'ON_ERROR_STOP=1', ...args]);
  /** The database's address in compose.yaml, with the server that runs here. */
  const databaseUrl = () =>
    compose.services['api-1']!.environment.DATABASE_URL!.replace(
      '@postgres:5432',
      `@127.0.0.1:${server.port}`,
    );
  const url = (name: string) => `http://127.0.0.1:${ports[name]}`;
  const start = async (name: string) => {
    const { environment } = compose.services[name]!;
    ports[name] ??= await freePort();
    const here = {
      HOST: '127.0.0.1',
      PORT: String(ports[name]),
      DATABASE_URL: databaseUrl(),
      TRUSTED_PROXIES: '127.0.0.1/32',
      N8N_URL: `http://localhost:${(receiver.address() as AddressInfo).port}`,
    };
    const program = await startProgram({
      name,
      script: join(root, 'service/dist/main.js'),
      cwd: folder,
      env: { ...environment, ...here },
      logFile: join(folder, `${name}.log`),
    });
    programs[name] = program;
    await program.ready(() => fetch(`${url(name)}/readyz`).then(({ ok }) => ok));
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'conversation-service-'));
    const up = await upInFolder();
    await up.run();
    env = { ...readEnvFile(await up.readEnv()), N8N_POSTGRES_PASSWORD: N8N_PASSWORD };
    await up.remove();
    compose = readCompose(join(root, 'compose.yaml'), env);
    server = await startPostgres({ fsync: false });
    const { username, password, port } = new URL(server.adminUrl);
    const admin = {
      PGHOST: '127.0.0.1',
      PGPORT: port,
      PGPASSWORD: decodeURIComponent(password),
      POSTGRES_USER: username,
    };
    await run('sh', [join(root, 'deploy/postgres-init.sh')], {
      env: {
        PATH: `${postgres!}:${process.env.PATH}`,
        ...admin,
        ...compose.services.postgres!.environment,
        POSTGRES_PASSWORD: '',
      },
    });
    receiver = createServer((request, response) => {
      received.push(String(request.headers['x-service-event']));
      request.resume().once('end', () => response.end('ok'));
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    await start('api-1');
    await Promise.all(['api-2', 'worker-1', 'worker-2'].map(start));
    proxy = await startCaddy(caddy!, [
      `127.0.0.1:${ports['api-1']}`,
      `127.0.0.1:${ports['api-2']}`,
    ]);
  }, 240_000);
  afterAll(async () => {
    await proxy?.stop();
    await Promise.all(Object.values(programs).map((program) => program.stop()));
    receiver?.close();
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  const api = () => apiClient(proxy.url, env.BOOTSTRAP_API_KEY!);

  it.each([
    ['conversation_service', 'n8n'],
    ['n8n', 'conversation_service'],
  ])(
    'gives %s a role that may do everything in its own database, and may not open that of %s',
    async (own, other) => {
      const address = new URL(databaseUrl());
      address.username = own;
      if (own === 'n8n') address.password = encodeURIComponent(N8N_PASSWORD);
      address.pathname = own;
      await query(address.href, 'CREATE SCHEMA one CREATE TABLE t (x int)');
      const role = 'SELECT rolsuper, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname = $1';
      expect(await query(address.href, role, [own])).toEqual([
        { rolsuper: false, rolcreatedb: false, rolcreaterole: false },
      ]);
      address.pathname = other;
      await expect(query(address.href, 'SELECT 1')).rejects.toThrow(
        /permission denied for database/,
      );
    },
  );

  it('is one service: key, chat, streams and event work through each of its processes', async () => {
    const { port } = receiver.address() as AddressInfo;
    expect(
      (
        await api().post('/api/hooks', {
          event: 'message.received',
          target_url: `http://127.0.0.1:${port}/`,
        })
      ).status,
    ).toBe(201);
    const customer = await chatCustomer(proxy.url);
    const streams = await Promise.all(
      ['api-1', 'api-2'].map((name) => readChatStream(url(name), customer.token)),
    );
    await customer.write('hello');
    for (const stream of streams)
      await waitFor('the message on each stream', () => stream.seen.length === 1);
    await waitFor('the event', () => received.length === 1);
    for (const stream of streams) stream.close();
    const found = await Promise.all(
      ['api-1', 'api-2'].map((name) =>
        apiClient(url(name), env.BOOTSTRAP_API_KEY!).get('/api/conversations'),
      ),
    );
    expect(found.map(({ body }) => body.data.length)).toEqual([1, 1]);
  });

  it('refuses a subscription with another private address', async () => {
    const { port } = new URL(databaseUrl());
    const { status, body } = await api().post('/api/hooks', {
      event: 'message.received',
      target_url: `https://127.0.0.1:${port}/`,
    });
    expect([status, body.error.code]).toEqual([422, 'target_url_not_public']);
  });

  it('has workers that answer about their health and metrics, and nothing else', async () => {
    for (const name of ['worker-1', 'worker-2']) {
      const metrics = await fetch(`${url(name)}/metrics`, {
        headers: { authorization: `Bearer ${env.METRICS_TOKEN}` },
      });
      expect([
        metrics.status,
        (await metrics.text()).includes('conversation_service_deliveries_total'),
      ]).toEqual([200, true]);
      for (const [path, status] of [
        ['/healthz', 200],
        ['/metrics', 401],
        ['/api/hooks', 404],
        ['/chat', 404],
        ['/sign-in', 404],
      ] as const)
        expect([path, (await fetch(url(name) + path)).status]).toEqual([path, status]);
    }
  });

  it('goes on when an API process and a worker are killed', async () => {
    await Promise.all([programs['api-1']!.kill(), programs['worker-1']!.kill()]);
    // Until the proxy has noticed that a process is gone, its calls end in a 502. A client then asks
    // again, with the same id.
    const insist = <T>(what: string, ask: () => Promise<T>) =>
      waitFor(what, () => ask().catch(() => null));
    const customer = await insist('a chat session', () => chatCustomer(proxy.url));
    for (const text of ['one', 'two', 'three'])
      await insist('the message to be accepted', () => customer.write(text, `id of ${text}`));
    await waitFor(
      'the events, at the latest when the dead worker’s are taken over',
      () => received.length >= 4,
      { timeoutMs: 60_000 },
    );
  }, 90_000);

  it('comes back from a pg_dump made as docs/operations.md says', async () => {
    const hook = (await api().get('/api/hooks')).body.data[0].id as string;
    await Promise.all(['api-2', 'worker-2'].map((name) => programs[name]!.stop()));
    const dump = join(folder, 'service.dump');
    await run(join(postgres!, 'pg_dump'), [
      '--format=custom',
      '--schema=conversation_service',
      `--file=${dump}`,
      databaseUrl(),
    ]);
    await psql('-c', 'DROP SCHEMA conversation_service CASCADE', databaseUrl());
    await run(join(postgres!, 'pg_restore'), [
      '--no-owner',
      '--exit-on-error',
      `--dbname=${databaseUrl()}`,
      dump,
    ]);
    await Promise.all(['api-2', 'worker-2'].map(start));
    await waitFor(
      'the proxy to find the service',
      async () => (await fetch(`${proxy.url}/readyz`)).ok,
    );
    expect((await api().get('/api/hooks')).body.data[0].id).toBe(hook);
    const before = received.length;
    await (await chatCustomer(proxy.url)).write('after the restore');
    await waitFor('its event', () => received.length > before);
    expect((await api().get('/api/conversations')).body.data).toHaveLength(3);
  }, 120_000);
});
