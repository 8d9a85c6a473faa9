import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { apiClient, chatCustomer, readWholeChat } from '../../helpers/apiClient.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { freePort } from '../../helpers/program.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const MAIN = fileURLToPath(new URL('../../../service/dist/main.js', import.meta.url));
const KEY = `cs_live_${'D'.repeat(32)}`;
const onLinux = process.platform === 'linux' ? describe : describe.skip;

/**
 * Whether this user may make a mount that only its own process sees and that goes with it. Some
 * systems do not allow it.
 */
const canMount = (() => {
  try {
    execFileSync('unshare', ['-rm', 'sh', '-c', `mount -t tmpfs none ${tmpdir()}`], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
})();

// A file size limit makes real writes fail as a full disk does, for any user, and can be lifted
// again. These tests stand in for the mount where none can be made.
(canMount ? describe.skip : onLinux)('when files cannot grow any more', () => {
  let folder: string;
  let child: ChildProcess;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'conversation-service-'));
  });
  afterEach(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  });

  it('answers writes with 503 and says so in /readyz, keeps what it acknowledged, and goes on when there is room again', async () => {
    let out = '';
    const limit = 'ulimit -S -f 128; exec "$0" "$1"'; // 128 blocks of 512 or 1024 bytes
    child = spawn('sh', ['-c', limit, process.execPath, MAIN], {
      env: {
        PATH: process.env.PATH,
        PORT: '0',
        DATA_DIR: folder,
        BOOTSTRAP_API_KEY: KEY,
        CHAT_RATE_LIMIT_PER_MINUTE: '0',
        ADDRESS_BUDGET: '0',
      },
    });
    child.stdout!.on('data', (chunk) => (out += String(chunk)));
    const url = await waitFor('the start', () => /"url":"([^"]+)"/.exec(out)?.[1]);
    const customer = await chatCustomer(url);
    const acknowledged: string[] = [];
    const write = async () => {
      const id = String(acknowledged.length);
      const answer = await customer.api.post('/api/chat/messages', {
        text: 'x'.repeat(3000),
        client_message_id: id,
      });
      if (answer.status === 202) acknowledged.push(id);
      return answer;
    };
    let refused = await write();
    for (let n = 0; n < 200 && refused.status === 202; n++) refused = await write();
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const notReady = await waitFor('/readyz to say so', async () => {
      const response = await fetch(`${url}/readyz`);
      return response.status === 503 ? response : null;
    });
    expect(JSON.stringify(await notReady.json())).toMatch(/cannot write/);

    await promisify(execFile)('prlimit', ['--pid', String(child.pid), '--fsize=unlimited']);
    await waitFor('service to resume', async () => (await write()).status === 202);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const stored = (await customer.api.get('/api/chat/messages?limit=200')).body.data.map(
      (each: { client_message_id: string }) => each.client_message_id,
    );
    expect(stored).toEqual(acknowledged);
    expect((await apiClient(url, KEY).get('/api/conversations')).body.data).toHaveLength(1);
  });

  it('goes on when its own log cannot grow either, and says afterwards how much of it is missing', async () => {
    const log = join(folder, 'service.log');
    await writeFile(log, 'x'.repeat(128 * 1024));
    const port = await freePort();
    const limit = 'ulimit -S -f 128; exec "$0" "$1" >> "$2" 2>&1';
    const env = {
      PATH: process.env.PATH,
      PORT: String(port),
      DATA_DIR: join(folder, 'data'),
      BOOTSTRAP_API_KEY: KEY,
    };
    child = spawn('sh', ['-c', limit, process.execPath, MAIN, log], { env, stdio: 'ignore' });
    const url = `http://127.0.0.1:${port}`;
    await waitFor('/readyz', async () => (await fetch(`${url}/readyz`)).status === 200);
    const refused = () => fetch(`${url}/api/hooks`, { headers: { authorization: 'Bearer wrong' } });
    for (let n = 0; n < 5; n += 1) expect((await refused()).status).toBe(401);
    expect((await chatCustomer(url)).token).not.toBe('');
    expect((await stat(log)).size).toBeLessThanOrEqual(128 * 1024);

    await promisify(execFile)('prlimit', ['--pid', String(child.pid), '--fsize=unlimited']);
    await refused();
    const note = await waitFor(
      'the note',
      async () => /\{.*log lines could not be written.*\}/.exec(await readFile(log, 'utf8'))?.[0],
    );
    // the start, five refusals
    expect(JSON.parse(note)).toMatchObject({ dropped: 6, reason: 'EFBIG' });
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});

(canMount ? describe : describe.skip)('on a file system that is full, data and log alike', () => {
  let folder: string;
  let child: ChildProcess;
  let tls: TlsFiles;
  let receiver: EventReceiver;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'conversation-full-'));
    tls = await writeTlsFiles(await sharedTestCa());
    receiver = await startEventReceiver();
  });
  afterEach(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await receiver.close();
    await tls.remove();
    await rm(folder, { recursive: true, force: true });
  });

  it('refuses writes, sends nothing twice, and goes on when there is room, with all that it acknowledged', async () => {
    const port = await freePort();
    const script =
      'mount -t tmpfs -o size=8m none "$3" && head -c 7000000 /dev/zero > "$3/ballast" && exec "$1" "$2" > "$3/service.log" 2>&1';
    const env = {
      PATH: process.env.PATH,
      NODE_EXTRA_CA_CERTS: tls.caFile,
      PORT: String(port),
      DATA_DIR: join(folder, 'data'),
      BOOTSTRAP_API_KEY: KEY,
      ALLOWED_NETWORKS: '127.0.0.0/8',
      CHAT_RATE_LIMIT_PER_MINUTE: '0',
      API_RATE_LIMIT_PER_MINUTE: '0',
      WORKSPACE_RATE_LIMIT_PER_MINUTE: '0',
      ADDRESS_BUDGET: '0',
      LOG_LEVEL: 'debug',
    };
    child = spawn('unshare', ['-rm', 'sh', '-c', script, 'sh', process.execPath, MAIN, folder], {
      env,
      stdio: 'ignore',
    });
    const url = `http://127.0.0.1:${port}`;
    await waitFor('/readyz', async () => (await fetch(`${url}/readyz`)).status === 200);
    await receiver.subscribe({ api: apiClient(url, KEY) }, 'message.received');
    const customer = await chatCustomer(url);
    const acknowledged: string[] = [];
    const write = async (n: number) => {
      const text = `${n} ${'x'.repeat(3000)}`;
      const { status } = await customer.api.post('/api/chat/messages', {
        text,
        client_message_id: String(n),
      });
      if (status === 202) acknowledged.push(text);
      return status;
    };
    for (let n = 0, status = 202; n < 400 && status === 202; n += 1) status = await write(n);
    const notReady = await fetch(`${url}/readyz`);
    expect(notReady.status).toBe(503);
    expect(await notReady.text()).toMatch(/no space is left on the disk/);
    const refused = await customer.api.post('/api/chat/messages', {
      text: 'refused',
      client_message_id: 'refused',
    });
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    // Room that is too small for the data is enough for log lines, so it is filled too.
    const there = `/proc/${child.pid}/root${folder}`;
    const filled = writeFile(`${there}/more-ballast`, Buffer.alloc(1_000_000));
    await expect(filled).rejects.toThrow('ENOSPC');
    for (let n = 1_000; n < 1_040; n += 1) expect(await write(n)).toBe(503);

    await rm(`${there}/ballast`);
    await waitFor('/readyz', async () => (await fetch(`${url}/readyz`)).status === 200);
    expect(await write(2_000)).toBe(202);
    const arrived = () => receiver.payloads().map(({ message }) => String(message.text));
    await waitFor('every acknowledged event', () =>
      acknowledged.every((text) => arrived().includes(text)),
    );
    expect(arrived().sort()).toEqual([...acknowledged].sort());
    const stored = await readWholeChat(customer.api);
    expect(stored.map(({ text }) => text).sort()).toEqual([...acknowledged].sort());
    // The log, which could not grow either, says how much of it is missing.
    const log = await readFile(`${there}/service.log`, 'utf8');
    const note = /\{.*log lines could not be written.*\}/.exec(log)?.[0];
    expect(JSON.parse(note ?? '{}')).toMatchObject({ reason: 'ENOSPC' });
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});
