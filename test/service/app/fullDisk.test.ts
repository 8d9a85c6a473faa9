import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { apiClient, chatCustomer, readWholeChat } from '../../helpers/apiClient.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { freePort } from '../../helpers/program.ts';
import { NO_LIMITS } from '../../helpers/settings.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const MAIN = fileURLToPath(new URL('../../../service/dist/main.js', import.meta.url));
const KEY = `cs_live_${'D'.repeat(32)}`;

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
      ...NO_LIMITS,
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
    // Room that is too small for the data is enough for log lines, so it is filled too, each time:
    // the store gives back what it could not write whole.
    const there = `/proc/${child.pid}/root${folder}`;
    for (let n = 1_000; n < 1_040; n += 1) {
      const filled = appendFile(`${there}/more-ballast`, Buffer.alloc(1_000_000));
      await expect(filled).rejects.toThrow('ENOSPC');
      expect(await write(n)).toBe(503);
    }

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
    const note = await waitFor('the note in the log', async () => {
      const log = await readFile(`${there}/service.log`, 'utf8');
      return /\{.*log lines could not be written.*\}/.exec(log)?.[0];
    });
    expect(JSON.parse(note)).toMatchObject({ reason: 'ENOSPC' });
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});
