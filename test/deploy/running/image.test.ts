import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient, chatCustomer } from '../../helpers/apiClient.ts';
import { cleanEnv, freePort } from '../../helpers/program.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { buildStages, type BuiltStage } from '../imageStages.ts';

const context = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
const run = promisify(execFile);
const KEY = `cs_live_${'D'.repeat(32)}`;

// The program runs as another user, which only root can start it as.
const describeAsRoot = process.getuid?.() === 0 ? describe : describe.skip;

describeAsRoot('the image, its lines run in plain folders', () => {
  let out: string;
  let node: string;
  let stages: Record<string, BuiltStage>;
  let image: BuiltStage;
  beforeAll(async () => {
    out = await mkdtemp(join(tmpdir(), 'conversation-service-'));
    await chmod(out, 0o755);
    stages = await buildStages(context, out);
    image = stages.service!;
    node = join(out, 'node'); // where the image's user can read it
    await copyFile(process.execPath, node);
    await chmod(node, 0o755);
  }, 600_000);
  afterAll(() => rm(out, { recursive: true, force: true }));

  /** A command of the image, with its paths and its Node as they are here. */
  const commandHere = ([program, ...rest]: readonly string[]) => [
    program === 'node' ? node : program!,
    ...rest.map((word) => (word.startsWith('/') ? join(image.root, word) : word)),
  ];
  const envOf = (port: number, more: Record<string, string> = {}) => ({
    ...image.env,
    DATA_DIR: join(image.root, image.env.DATA_DIR!),
    PORT: String(port),
    ...more,
  });
  const start = (
    command: readonly string[],
    env: Record<string, string>,
  ): ChildProcess & { output: string } => {
    const [program, ...args] = commandHere(command);
    const child = spawn(program!, args, {
      cwd: join(image.root, image.workdir),
      env,
      uid: image.uid,
      gid: image.gid,
    });
    const started = Object.assign(child, { output: '' });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => (started.output += String(chunk)));
    return started;
  };
  const exitCodeOf = async (child: ChildProcess) =>
    child.exitCode === null && child.signalCode === null
      ? ((await once(child, 'exit'))[0] as number | null)
      : child.exitCode;

  it('holds what the service needs to run, and nothing of development', async () => {
    const { packages } = JSON.parse(await readFile(join(context, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { dev?: boolean }>;
    };
    const app = join(image.root, 'app');
    expect((await readdir(app)).sort()).toEqual([
      'LICENSE',
      'healthcheck.mjs',
      'node_modules',
      'service',
    ]);
    expect((await readdir(join(app, 'service'))).sort()).toEqual([
      'dist',
      'node_modules',
      'package.json',
    ]);
    const installed = (
      await readdir(join(app, 'node_modules'), { recursive: true, withFileTypes: true })
    )
      .filter((entry) => entry.name === 'package.json')
      .map((entry) => entry.parentPath.slice(app.length + 1))
      .filter((path) => path in packages);
    expect(installed).toEqual(
      expect.arrayContaining(['node_modules/express', 'node_modules/lowdb']),
    );
    expect(installed.filter((path) => packages[path]!.dev === true)).toEqual([]);
    for (const name of ['typescript', 'jest', 'n8n-workflow', 'n8n-core', '@types/express'])
      expect([name, await lstat(join(app, 'node_modules', name)).catch(() => null)]).toEqual([
        name,
        null,
      ]);
    expect(await readdir(join(app, 'service/dist/platform/html/assets'))).toContain('styles');
  });

  it('runs as a user who cannot change it, is found healthy, serves, and stops in order', async () => {
    const findAsUser = async (...tests: string[]) => {
      const options = { uid: image.uid, gid: image.gid, maxBuffer: 1 << 26 };
      return (await run('find', [join(image.root, 'app'), ...tests], options)).stdout;
    };
    expect(await findAsUser('-not', '-type', 'l', '-writable')).toBe('');
    expect(await findAsUser('-not', '-readable')).toBe('');
    const port = await freePort();
    const env = envOf(port, { BOOTSTRAP_API_KEY: KEY });
    const service = start(image.command, env);
    const check = async () => {
      const checking = start(image.healthcheck, envOf(port));
      return { code: await exitCodeOf(checking), output: checking.output };
    };
    try {
      await waitFor(
        'the health check',
        async () => service.exitCode !== null || (await check()).code === 0,
        { timeoutMs: 30_000, everyMs: 250 },
      );
      expect([service.exitCode, service.output]).toEqual([
        null,
        expect.stringContaining('conversation-service is running'),
      ]);
      const url = `http://127.0.0.1:${port}`;
      await (await chatCustomer(url)).write('hello');
      expect((await apiClient(url, KEY).get('/api/conversations')).body.data).toHaveLength(1);
      expect((await fetch(`${url}/chat`)).status).toBe(200);
      expect((await fetch(`${url}/api/docs`)).status).toBe(200);
      expect(
        (await readFile(`/proc/${service.pid}/status`, 'utf8')).match(/^Uid:\s+(.*)$/m)![1],
      ).toBe('1000\t1000\t1000\t1000');
      expect((await stat(join(image.root, 'data', 'encryption.key'))).uid).toBe(1000);
    } finally {
      service.kill('SIGTERM');
    }
    expect(await exitCodeOf(service)).toBe(0);
    expect(await check()).toEqual({
      code: 1,
      output: expect.stringMatching(/^\/readyz cannot be read: .*ECONNREFUSED/),
    });
  });

  it('takes a command in place of its own', async () => {
    const list = start([...image.command.slice(0, 2), 'key', 'list'], envOf(0));
    expect([await exitCodeOf(list), list.output]).toEqual([
      0,
      expect.stringContaining('"Default key"'),
    ]);
  });

  it('puts into n8n’s image exactly what npm would publish', async () => {
    const folder = join(stages.n8n!.root, 'opt/n8n-nodes-conversation-service');
    const files = (await readdir(folder, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
    const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: join(stages.build!.root, 'app'),
      env: cleanEnv(),
      maxBuffer: 1 << 26,
    });
    const [packed] = JSON.parse(stdout) as [{ files: { path: string }[] }];
    expect(files.sort()).toEqual(packed.files.map(({ path }) => path).sort());
    expect(files).toContain('dist/nodes/ConversationService/ConversationServiceTrigger.node.js');
  });

  it('puts our package where n8n finds it, in place of an earlier one', async () => {
    const home = await mkdtemp(join(out, 'home-'));
    const argumentsFile = join(home, 'arguments');
    const entrypoint = join(home, 'entrypoint.sh');
    await writeFile(entrypoint, `#!/bin/sh\necho "$@" >${argumentsFile}\n`);
    await chmod(entrypoint, 0o755);
    const installed = join(home, '.n8n/nodes/node_modules/n8n-nodes-conversation-service');
    await mkdir(installed, { recursive: true });
    await writeFile(join(installed, 'old.js'), '');
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      PACKAGE_FOLDER: join(stages.n8n!.root, 'opt/n8n-nodes-conversation-service'),
      N8N_ENTRYPOINT: entrypoint,
    };
    for (const args of [[], ['worker', '--concurrency=5']]) {
      await run('sh', [join(stages.n8n!.root, 'opt/n8n-start.sh'), ...args], { env });
      expect((await readFile(argumentsFile, 'utf8')).trim()).toBe(args.join(' '));
      expect((await readdir(installed)).sort()).toEqual([
        'LICENSE',
        'README.md',
        'dist',
        'package.json',
      ]);
    }
  });
});
