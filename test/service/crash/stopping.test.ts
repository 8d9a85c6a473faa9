import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { apiClient, chatCustomer } from '../../helpers/apiClient.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const MAIN = fileURLToPath(new URL('../../../service/dist/main.js', import.meta.url));
const STALLING = fileURLToPath(new URL('./stallingService.child.ts', import.meta.url));
const KEY = `cs_live_${'S'.repeat(32)}`;

describe('SIGTERM', () => {
  let tls: TlsFiles;
  let folder: string;
  let receiver: EventReceiver;
  let child: ChildProcess;
  let out: string;
  /** How requests are answered; nothing happens by itself. */
  let answer: (end: () => void) => void;

  beforeAll(async () => {
    tls = await writeTlsFiles(await sharedTestCa());
  });
  afterAll(() => tls.remove());
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'conversation-service-'));
    answer = (end) => end();
    receiver = await startEventReceiver((_request, response) => answer(() => void response.end('ok')));
  });
  afterEach(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await receiver.close();
    await rm(folder, { recursive: true, force: true });
  });

  const start = async (env: Record<string, string> = {}, script = MAIN): Promise<string> => {
    const settings = { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: tls.caFile, PORT: '0', DATA_DIR: folder, BOOTSTRAP_API_KEY: KEY, ALLOWED_NETWORKS: '127.0.0.0/8', CHAT_RATE_LIMIT_PER_MINUTE: '0' };
    out = '';
    child = spawn(process.execPath, [script], { env: { ...settings, ...env } });
    child.stdout!.on('data', (chunk) => (out += String(chunk)));
    return waitFor(`the start (${out})`, () => /"url":"([^"]+)"/.exec(out)?.[1]);
  };
  /** @returns how it ended and how long that took */
  const stop = async () => {
    const begun = performance.now();
    const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
    child.kill('SIGTERM');
    const [code] = await ended;
    return { code, ms: performance.now() - begun };
  };
  const deliveries = async (url: string): Promise<{ status: string; attempts: { status_code: number | null }[] }[]> => {
    const api = apiClient(url, KEY);
    const [hook] = (await api.get('/api/hooks')).body.data;
    return (await api.get(`/api/hooks/${hook.id}/deliveries`)).body.data;
  };

  it('lets an attempt under way end, records it, takes no more, and exits 0', async () => {
    const url = await start();
    const customer = await chatCustomer(url);
    await receiver.subscribe({ api: apiClient(url, KEY) }, 'message.received');
    let end = () => {};
    answer = (ending) => (end = ending);
    await customer.write('under way');
    await waitFor('the request', () => receiver.requests.length === 1);
    const stopped = stop();
    await waitFor('it takes no more requests', () => fetch(`${url}/healthz`).then(() => false, () => true));
    end();
    expect((await stopped).code).toBe(0);
    answer = (ending) => ending();

    const again = await start();
    expect(await deliveries(again)).toMatchObject([{ status: 'delivered', attempts: [{ status_code: 200 }] }]);
    expect(receiver.requests).toHaveLength(1);
  });

  it('waits for an attempt that never ends no longer than its time, exits 0, and sends it again after the start', async () => {
    const env = { DELIVERY_TIMEOUT_MS: '1000', DELIVERY_RETRY_DELAYS_MS: '100,100,100' };
    const url = await start(env);
    await receiver.subscribe({ api: apiClient(url, KEY) }, 'message.received');
    answer = () => {};
    await (await chatCustomer(url)).write('never answered');
    await waitFor('the request', () => receiver.requests.length === 1);
    const { code, ms } = await stop();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(10_000 + 14_000);
    answer = (ending) => ending();
    const again = await start(env);
    await waitFor('the second attempt', async () => (await deliveries(again))[0]?.status === 'delivered');
    const ids = receiver.payloads().map(({ id }) => id);
    expect(new Set(ids).size).toBe(1);
    expect(ids.length).toBeGreaterThan(1);
  });

  it('ends open chat streams, at once', async () => {
    const url = await start();
    const customer = await chatCustomer(url);
    const open = () => fetch(`${url}/api/chat/stream`, { headers: { authorization: `Bearer ${customer.token}` } });
    const streams = await Promise.all([open(), open(), open()]);
    for (const stream of streams) expect(stream.status).toBe(200);
    const ends = streams.map((stream) => stream.text().catch(() => 'cut'));
    const { code, ms } = await stop();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(10_000);
    await Promise.all(ends);
  });

  it('gives a snapshot up, keeps everything, and exits 0', async () => {
    const url = await start({ STALL: 'snapshot' }, STALLING);
    const customer = await chatCustomer(url);
    for (let n = 0; n < 12 && !out.includes('STALLED'); n += 1) await customer.write(`${n} ${'x'.repeat(4000)}`);
    await waitFor('the snapshot to be under way', () => out.includes('STALLED'));
    const written = await customer.write('during the snapshot');
    const { code, ms } = await stop();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(24_000);
    const again = apiClient(await start(), customer.token);
    expect((await again.get('/api/chat/messages?limit=200')).body.data.at(-1).id).toBe(written.message_id);
  });

  it('during an outage of the disk gives up in time, exits 0, and repeats what could not be recorded', async () => {
    const url = await start({ STALL: 'full-from-signal' }, STALLING);
    await receiver.subscribe({ api: apiClient(url, KEY) }, 'message.received');
    const customer = await chatCustomer(url);
    let end = () => {};
    answer = (ending) => (end = ending);
    await customer.write('delivered, not recorded');
    await waitFor('the request', () => receiver.requests.length === 1);
    child.kill('SIGUSR2');
    await waitFor('the disk to be full', () => out.includes('FULL'));
    end();
    expect((await customer.api.post('/api/chat/messages', { text: 'refused', client_message_id: 'r' })).status).toBe(503);
    await waitFor('/readyz to say so', async () => (await fetch(`${url}/readyz`)).status === 503);
    const { code, ms } = await stop();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(24_000);
    answer = (ending) => ending();
    await start();
    await waitFor('the repeat', () => receiver.requests.length === 2);
    expect(new Set(receiver.payloads().map(({ id }) => id)).size).toBe(1);
  });

  it('exits 0 although the disk never ends an fsync, and keeps what was acknowledged', async () => {
    const url = await start({ STALL: 'fsync-from-signal' }, STALLING);
    const customer = await chatCustomer(url);
    const { message_id: id } = await customer.write('acknowledged');
    child.kill('SIGUSR2');
    await waitFor('the disk to hang', () => out.includes('HANGS'));
    const waiting = customer.write('not acknowledged').then(() => 'taken', () => 'refused');
    await waitFor('a write that waits', () => out.includes('WAITING'));
    const { code, ms } = await stop();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(24_000);
    expect(await waiting).toBe('refused');
    const again = apiClient(await start(), customer.token);
    expect((await again.get('/api/chat/messages')).body.data[0].id).toBe(id);
  }, 60_000);

  it('while it is starting ends it with 0, whenever it comes', async () => {
    for (const delayMs of [0, 30, 60, 120]) {
      const data = join(folder, String(delayMs));
      child = spawn(process.execPath, [MAIN], { env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: data } });
      await waitFor('its folder to be taken', () => existsSync(join(data, 'lock')), { everyMs: 2 });
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      expect((await stop()).code).toBe(0);
    }
  }, 60_000);
});
