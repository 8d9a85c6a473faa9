// The service as users get it: packed, installed in an empty folder, started there by npx.
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient, chatCustomer } from '../../helpers/apiClient.ts';
import { cleanEnv, freePort } from '../../helpers/program.ts';
import { setUpForLocalN8n } from '../../helpers/serviceProcess.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { installInEmptyFolder, pack, type Packed } from '../packed.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));

describe('npx conversation-service', () => {
  let out: string;
  let packed: Packed;
  let folder: string;
  let port: number;
  let url: string;
  beforeAll(async () => {
    out = await mkdtemp(join(tmpdir(), 'conversation-packed-'));
    packed = await pack('service', out);
    folder = await installInEmptyFolder(packed.file);
    port = await freePort();
    url = `http://localhost:${port}`;
  }, 300_000);
  afterAll(async () => {
    for (const each of [out, folder]) if (each) await rm(each, { recursive: true, force: true });
  });

  const env = (more: Record<string, string> = {}) => cleanEnv({ PORT: String(port), ...more });
  const npx = (...args: string[]) =>
    run('npx', ['conversation-service', ...args], { cwd: folder, env: env() });
  const refusedStart = (more: Record<string, string> = {}) => {
    const options = { cwd: folder, env: env(more), encoding: 'utf8', timeout: 30_000 } as const;
    const { status, stderr } = spawnSync('npx', ['conversation-service'], options);
    return { status, stderr };
  };
  const start = async (): Promise<ChildProcess & { output: string }> => {
    const child = Object.assign(
      spawn('npx', ['conversation-service'], { cwd: folder, env: env() }),
      { output: '' },
    );
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (chunk) => (child.output += String(chunk)));
    await waitFor(
      'the service',
      async () => child.exitCode !== null || (await fetch(`${url}/readyz`)).ok,
      { timeoutMs: 60_000 },
    );
    return child;
  };
  const isGone = () =>
    fetch(`${url}/healthz`).then(
      () => false,
      () => true,
    );
  /** SIGTERM to npx alone, as a supervisor sends it. */
  const stop = async (child: ChildProcess) => {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    await waitFor('the service to end', isGone, { timeoutMs: 20_000 });
  };

  it('is a package with a program, the assets of its pages and the example workflows, and no sources or maps', async () => {
    const manifest = JSON.parse(
      await readFile(join(folder, 'node_modules/conversation-service/package.json'), 'utf8'),
    ) as { bin: Record<string, string>; engines: { node: string } };
    expect(manifest).toMatchObject({
      bin: { 'conversation-service': 'dist/main.js' },
      engines: { node: '>=24' },
    });
    expect(packed.paths).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'README.md',
        'dist/main.js',
        'dist/platform/html/assets/styles/base.css',
        'package.json',
      ]),
    );
    const examples = await readdir(join(root, 'examples/workflows'));
    expect(packed.paths.filter((path) => path.startsWith('dist/examples/'))).toEqual(
      examples.map((name) => `dist/examples/${name}`).sort(),
    );
    expect(packed.paths.filter((path) => /\.(ts|map|tsbuildinfo)$/.test(path))).toEqual([]);
  });

  it('starts in an empty folder, prints the set-up link, serves, and stops when npx is stopped', async () => {
    const child = await start();
    try {
      expect([child.exitCode, child.output]).toEqual([
        null,
        expect.stringContaining(`${url}/setup?token=`),
      ]);
      expect(child.output).toContain(`Everything is kept in ${join(folder, 'data')}`);
      const [setupLink] = /http:\S+\/setup\?token=\S+/.exec(child.output)!;
      const key = await setUpForLocalN8n(5678)(setupLink);
      await (await chatCustomer(url, { workspace: 'demo' })).write('hello');
      const conversations = await apiClient(url, key).get('/api/conversations');
      expect(conversations.body.data).toHaveLength(1);
      for (const page of ['/chat?workspace=demo', '/api/docs', '/api/openapi.json'])
        expect([page, (await fetch(`${url}${page}`)).status]).toEqual([page, 200]);
    } finally {
      await stop(child);
    }
    const again = await start();
    await stop(again);
    expect(again.output).not.toContain('/setup?token=');
  });

  it('lists the keys, makes a backup of the data in the folder, and verifies it', async () => {
    expect((await npx('key', 'list')).stdout).toMatch(/^key_\S+ {2}cs_live_/m);
    const { stdout } = await npx('backup', '--to', 'backups');
    const [name] = await readdir(join(folder, 'backups'));
    expect(stdout).toContain(name!);
    expect((await npx('verify', join('backups', name!))).stdout).toMatch(/conversations +1\n/);
    expect((await stat(join(folder, 'backups', name!))).mode & 0o077).toBe(0);
  });

  it('refuses a wrong setting in one line, from the environment and from .env', async () => {
    expect(refusedStart({ LOG_LEVEL: 'loud' })).toEqual({
      status: 1,
      stderr: expect.stringMatching(/^conversation-service: LOG_LEVEL [^\n]+\n$/),
    });
    await writeFile(join(folder, '.env'), 'RETENTION_DAYS=many\n');
    expect(refusedStart()).toEqual({
      status: 1,
      stderr: expect.stringMatching(/^conversation-service: RETENTION_DAYS [^\n]+\n$/),
    });
    await rm(join(folder, '.env'));
  });
});
