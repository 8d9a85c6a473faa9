// The proxies of deploy/, started with their own files. Only ports, certificates and addresses are
// replaced.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../helpers/program.ts';
import { makeTestCa } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const deploy = fileURLToPath(new URL('../../../deploy/', import.meta.url));

/**
 * Where a program is; null when it is not installed, and its test is then skipped. With ALL_DEPLOY=1
 * a missing program is an error.
 */
export function findProgram(name: string): string | null {
  const found = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
  if (found === undefined && process.env.ALL_DEPLOY) throw new Error(`${name} is not installed.`);
  return found ?? null;
}

export interface Proxy {
  readonly url: string;
  stop(): Promise<void>;
}

/** @param upstreams `127.0.0.1:<port>` of each API process */
export type StartProxy = (program: string, upstreams: readonly [string, string]) => Promise<Proxy>;

export const startCaddy: StartProxy = async (program, upstreams) => {
  const [port, internal, health] = [await freePort(), await freePort(), await freePort()];
  const env = {
    SITE_ADDRESS: `http://127.0.0.1:${port}`,
    INTERNAL_PORT: String(internal),
    HEALTH_PORT: String(health),
    API_UPSTREAMS: upstreams.join(' '),
  };
  const args = ['run', '--config', join(deploy, 'Caddyfile'), '--adapter', 'caddyfile'];
  return start(program, args, env, `http://127.0.0.1:${port}`, () =>
    fetch(`http://127.0.0.1:${health}/`).then(({ ok }) => ok),
  );
};

export const startNginx: StartProxy = async (program, [first, second]) => {
  const folder = await mkdtemp(join(tmpdir(), 'conversation-service-'));
  const [port, securePort] = [await freePort(), await freePort()];
  const { key, cert } = (await makeTestCa()).server;
  await writeFile(join(folder, 'key.pem'), key);
  await writeFile(join(folder, 'cert.pem'), cert);
  // Our file is a site. The file below takes the place of Debian's nginx.conf, which includes sites.
  const site = replaceAll(readFileSync(join(deploy, 'nginx.conf'), 'utf8'), {
    '127.0.0.1:3001': first,
    '127.0.0.1:3002': second,
    // https as in the file, and http beside it, for tests that do not trust the certificate.
    'listen 443 ssl': `listen 127.0.0.1:${securePort} ssl; listen 127.0.0.1:${port}`,
    '/etc/ssl/conversations.example.com.pem': join(folder, 'cert.pem'),
    '/etc/ssl/private/conversations.example.com.key': join(folder, 'key.pem'),
  });
  await writeFile(
    join(folder, 'nginx.conf'),
    `user root; daemon off; pid ${folder}/pid; error_log ${folder}/error.log warn; events {}\nhttp { access_log off; ${temporaryPaths(folder)}\n${site}}\n`,
  );
  const url = `http://127.0.0.1:${port}`;
  const proxy = await start(
    program,
    ['-c', join(folder, 'nginx.conf'), '-p', folder, '-e', join(folder, 'error.log')],
    {},
    url,
    // nginx itself answers this address, even when no API process runs.
    () => fetch(`${url}/metrics`).then(({ status }) => status === 404),
  );
  return { url, stop: () => proxy.stop().then(() => rm(folder, { recursive: true, force: true })) };
};

const temporaryPaths = (folder: string) =>
  ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(' ');

/** @throws Error when the text lacks something that is to be replaced */
function replaceAll(text: string, values: Readonly<Record<string, string>>): string {
  let replaced = text;
  for (const [from, to] of Object.entries(values)) {
    if (!replaced.includes(from)) throw new Error(`${from} is not in the file`);
    replaced = replaced.replaceAll(from, to);
  }
  return replaced;
}

async function start(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
  url: string,
  isReady: () => Promise<boolean>,
): Promise<Proxy> {
  const home = await mkdtemp(join(tmpdir(), 'conversation-service-'));
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, HOME: home, ...env },
    cwd: home,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => (output += String(chunk)));
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    await rm(home, { recursive: true, force: true });
  };
  try {
    await waitFor('the proxy', () => child.exitCode !== null || isReady());
    if (child.exitCode !== null) throw new Error(`it ended: ${output}`);
  } catch (error) {
    await stop();
    throw new Error(`${program} does not start: ${output}`, { cause: error });
  }
  return { url, stop };
}
