import { existsSync, readFileSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from '@jest/globals';
import ipaddr from 'ipaddr.js';
import { readConfig, SETTINGS } from '../../service/src/app/config.ts';
import { readCompose, readEnvFile, variablesOf, type ComposeFile } from './composeFile.ts';
import { upInFolder, type UpFolder } from './upInFolder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const path = join(root, 'compose.yaml');
const text = readFileSync(path, 'utf8');
const PROCESSES = ['api-1', 'api-2', 'worker-1', 'worker-2'];

describe('compose.yaml, with the .env that deploy/up.sh makes', () => {
  let up: UpFolder;
  let env: Record<string, string>;
  let compose: ComposeFile;
  beforeAll(async () => {
    up = await upInFolder();
    await up.run();
    env = readEnvFile(await up.readEnv());
    compose = readCompose(path, env);
  });
  afterAll(() => up?.remove());

  it('has a database, two API processes behind a proxy, two workers, and n8n', () => {
    expect(Object.keys(compose.services)).toEqual([
      'postgres',
      ...PROCESSES,
      'proxy',
      'https',
      'n8n',
    ]);
    expect(PROCESSES.map((name) => readConfig(compose.services[name]!.environment).role)).toEqual([
      'api',
      'api',
      'worker',
      'worker',
    ]);
    expect(compose.services.proxy!.environment.API_UPSTREAMS).toBe('api-1:3000 api-2:3000');
  });

  it('gives all processes the same settings, which the service accepts', () => {
    const [first, ...others] = PROCESSES.map((name) =>
      readConfig({ ...compose.services[name]!.environment, ROLE: 'all' }),
    );
    for (const other of others) expect(other).toEqual(first);
    expect(first).toMatchObject({
      database: {
        url: `postgres://conversation_service:${env.SERVICE_POSTGRES_PASSWORD}@postgres:5432/conversation_service`,
        schema: 'conversation_service',
      },
      encryptionKey: env.ENCRYPTION_KEY,
      metricsToken: env.METRICS_TOKEN,
      publicUrl: 'http://localhost:3000',
      n8nUrl: 'http://n8n:5678',
      allowedNetworks: [],
      insecureTargets: false,
      bootstrap: {
        adminEmail: 'admin@example.com',
        adminPassword: env.BOOTSTRAP_ADMIN_PASSWORD,
        apiKey: env.BOOTSTRAP_API_KEY,
      },
    });
  });

  it('lets .env set every setting of the service, and names none that the service does not have', () => {
    // The image itself sets where it listens, and where the embedded store would be.
    const settings = SETTINGS.filter((name) => !['HOST', 'PORT', 'DATA_DIR'].includes(name));
    expect(Object.keys(compose.services['api-1']!.environment).sort()).toEqual(settings.sort());
    // compose.yaml alone decides these.
    const fixed = ['DATABASE_URL', 'ROLE', 'TRUSTED_PROXIES'];
    const fromEnv = settings.filter((name) => !fixed.includes(name));
    expect(fromEnv.filter((name) => !variablesOf(text).includes(name))).toEqual([]);
  });

  it.each(['proxy', 'https'])(
    'trusts %s about addresses, and nothing but the two proxies',
    (name) => {
      const { ipv4_address: address } = (
        compose.services[name]!.networks as Record<string, { ipv4_address: string }>
      ).inner!;
      const config = readConfig(compose.services['api-1']!.environment);
      // These are two addresses.
      expect(config.trustedProxies).toEqual(['172.30.77.2/31']);
      expect(ipaddr.parse(address).match(ipaddr.parseCIDR('172.30.77.2/31'))).toBe(true);
      const [{ subnet, ip_range: range }] = compose.networks.inner!.ipam.config as [
        { subnet: string; ip_range: string },
      ];
      expect(ipaddr.parse(address).match(ipaddr.parseCIDR(subnet))).toBe(true);
      // Otherwise a container that starts first could get it.
      expect(ipaddr.parse(address).match(ipaddr.parseCIDR(range))).toBe(false);
    },
  );

  it('lets the service send to the address that n8n gives its triggers, by default', () => {
    const { WEBHOOK_URL } = compose.services.n8n!.environment;
    const { n8nUrl } = readConfig(compose.services['api-1']!.environment);
    expect(new URL(WEBHOOK_URL!).origin).toBe(n8nUrl);
  });

  it('starts in order, starts again what ends, and bounds logs, memory and rights', () => {
    for (const name of PROCESSES.slice(1))
      expect(compose.services[name]!.depends_on).toEqual({
        postgres: { condition: 'service_healthy' },
        'api-1': { condition: 'service_healthy' },
      });
    expect(compose.services['api-1']!.depends_on).toEqual({
      postgres: { condition: 'service_healthy' },
    });
    for (const [name, { restart, logging, mem_limit: limit, healthcheck }] of Object.entries(
      compose.services,
    )) {
      expect([name, restart, logging, limit !== undefined]).toEqual([
        name,
        'unless-stopped',
        { driver: 'json-file', options: { 'max-size': '10m', 'max-file': '5' } },
        true,
      ]);
      if (PROCESSES.includes(name))
        expect(healthcheck!.test).toEqual(['CMD', 'node', '/app/healthcheck.mjs']);
      else expect([name, healthcheck!.test[0]]).toEqual([name, 'CMD']);
    }
    // docs/operations.md: DELIVERY_TIMEOUT_MS (10 s at least) and 14 s.
    for (const name of PROCESSES)
      expect(compose.services[name]).toMatchObject({
        stop_grace_period: '25s',
        read_only: true,
        cap_drop: ['ALL'],
      });
  });

  it('opens nothing but https to other machines unless .env says so, and the database to nobody', () => {
    const published = Object.entries(compose.services).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => [name, port]),
    );
    expect(published).toEqual([
      ['proxy', '127.0.0.1:3000:80'],
      ['https', '80:80'],
      ['https', '443:443'],
      ['n8n', '127.0.0.1:5678:5678'],
    ]);
    const opened = readCompose(path, { ...env, HTTP_BIND: '8080', N8N_BIND: '0.0.0.0:5678' });
    expect(opened.services.proxy!.ports).toEqual(['8080:80']);
    expect(opened.services.n8n!.ports).toEqual(['0.0.0.0:5678:5678']);
  });

  it('has https and n8n as profiles, the rest without one, and https needs one variable', () => {
    const profiles = Object.entries(compose.services).map(([name, each]) => [name, each.profiles]);
    expect(Object.fromEntries(profiles.filter(([, names]) => names !== undefined))).toEqual({
      https: ['https'],
      n8n: ['n8n'],
    });
    const withDomain = readCompose(path, { ...env, DOMAIN: 'chat.example.com' });
    expect(withDomain.services.https!.environment.SITE_ADDRESS).toBe('chat.example.com');
    expect(readConfig(withDomain.services['api-1']!.environment).publicUrl).toBe(
      'https://chat.example.com',
    );
  });

  it('takes official images by their digest, except n8n’s, which it takes by the tag of one version', () => {
    const digest = /^[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}$/;
    for (const name of ['postgres', 'proxy', 'https'])
      expect([name, compose.services[name]!.image]).toEqual([name, expect.stringMatching(digest)]);
    const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
    expect(/^FROM (\S+) AS base$/m.exec(dockerfile)![1]).toMatch(digest);
    expect(/^FROM (\S+) AS n8n$/m.exec(dockerfile)![1]).toMatch(/^n8nio\/n8n:\d+\.\d+\.\d+$/);
  });

  it('builds each image once', () => {
    const built = Object.values(compose.services).filter((service) => 'build' in service);
    const images = built.map(({ image }) => image);
    expect(images).toEqual(['conversation-service', 'conversation-service-n8n']);
  });

  it('names only files and volumes that exist', () => {
    for (const { volumes = [] } of Object.values(compose.services)) {
      for (const volume of volumes) {
        const [source = ''] = volume.split(':');
        const isFile = source.startsWith('.');
        const exists = isFile ? existsSync(join(root, source)) : source in compose.volumes;
        expect([volume, exists]).toEqual([volume, true]);
      }
    }
  });

  it.each([
    'ENCRYPTION_KEY',
    'POSTGRES_PASSWORD',
    'SERVICE_POSTGRES_PASSWORD',
    'N8N_POSTGRES_PASSWORD',
    'N8N_ENCRYPTION_KEY',
    'METRICS_TOKEN',
  ])('says what to do where %s is missing', (name) => {
    expect(() => readCompose(path, { ...env, [name]: '' })).toThrow(
      `required variable ${name} is missing a value: is missing in .env. sh deploy/up.sh makes it.`,
    );
  });
});

const secretsIn = (env: string): string[] => {
  const { BOOTSTRAP_ADMIN_EMAIL: _, ...secrets } = readEnvFile(env);
  return Object.values(secrets);
};

describe('deploy/up.sh', () => {
  let up: UpFolder;
  beforeEach(async () => {
    up = await upInFolder();
  });
  afterEach(() => up.remove());

  it('makes secrets that only their owner can read, starts everything, and says where it is', async () => {
    const { code, out, err } = await up.run({ args: ['--no-color'] });
    expect([code, err]).toEqual([0, '']);
    expect((await stat(join(up.folder, '.env'))).mode & 0o777).toBe(0o600);
    expect(await up.calls()).toEqual([
      'volume inspect conversation-service_postgres',
      'compose --profile n8n up --build --detach --wait --no-color',
    ]);
    expect(out).toContain('Conversation Service: http://localhost:3000 ');
    for (const secret of secretsIn(await up.readEnv())) expect(out).not.toContain(secret);
  });

  it('makes different secrets in each folder, and keeps them from run to run', async () => {
    await up.run();
    const first = await up.readEnv();
    expect((await up.run({ volumeExists: true })).code).toBe(0);
    expect(await up.readEnv()).toBe(first);
    const other = await upInFolder();
    await other.run();
    const ours = secretsIn(first);
    const theirs = secretsIn(await other.readEnv());
    await other.remove();
    expect([ours.length, theirs.length]).toEqual([8, 8]);
    expect(new Set([...ours, ...theirs]).size).toBe(16);
  });

  it('adds what is missing to a .env, also to one without a newline at its end', async () => {
    await writeFile(
      join(up.folder, '.env'),
      'PUBLIC_URL=https://chat.example.com\nENCRYPTION_KEY=\nBOOTSTRAP_ADMIN_EMAIL=ana@example.com',
    );
    const { out } = await up.run();
    const env = readEnvFile(await up.readEnv());
    expect(env).toMatchObject({
      PUBLIC_URL: 'https://chat.example.com',
      BOOTSTRAP_ADMIN_EMAIL: 'ana@example.com',
    });
    expect(Buffer.from(env.ENCRYPTION_KEY!, 'base64').length).toBe(32);
    expect(out).toContain('Conversation Service: https://chat.example.com ');
    expect(
      readConfig(readCompose(path, env).services['api-1']!.environment).bootstrap.adminEmail,
    ).toBe('ana@example.com');
  });

  it('adds https for a DOMAIN, leaves n8n out when .env says so, and lets only the owner read .env', async () => {
    const file = join(up.folder, '.env');
    await writeFile(file, 'DOMAIN=chat.example.com\nWITHOUT_N8N=1\n', { mode: 0o644 });
    const { code, out } = await up.run();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect([code, (await up.calls()).at(-1)]).toEqual([
      0,
      'compose --profile https up --build --detach --wait',
    ]);
    expect(out).toContain('Conversation Service: https://chat.example.com ');
    expect(out).not.toContain('n8n');
  });

  it('builds nothing when .env names a published image', async () => {
    await writeFile(
      join(up.folder, '.env'),
      'SERVICE_IMAGE=ghcr.io/acme/conversation-service:0.2.0\nWITHOUT_N8N=1\n',
    );
    await up.run();
    expect((await up.calls()).at(-1)).toBe('compose up --no-build --detach --wait');
  });

  it('makes no new secrets for a database whose .env is gone', async () => {
    const { code, out, err } = await up.run({ volumeExists: true });
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(
      /^There is a database already, but no \.env .* Put the copy of \.env back\.\n/,
    );
    expect(existsSync(join(up.folder, '.env'))).toBe(false);
    expect(await up.calls()).toEqual(['volume inspect conversation-service_postgres']);
  });
});
