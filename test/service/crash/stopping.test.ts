import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { apiClient, chatCustomer } from '../../helpers/apiClient.ts';
import { onEmbeddedStore } from '../../helpers/onEmbeddedStore.ts';
import { BARE_ENV } from '../../helpers/program.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { KEY, MAIN, StoppingStage } from './stoppingStage.ts';

describe('SIGTERM', () => {
  const stage = new StoppingStage();

  it('lets an attempt under way end, records it, takes no more, and exits 0', async () => {
    const url = await stage.start();
    const customer = await chatCustomer(url);
    await stage.receiver.subscribe({ api: apiClient(url, KEY) }, 'message.received');
    let end = () => {};
    stage.answer = (ending) => (end = ending);
    await customer.write('under way');
    await waitFor('the request', () => stage.receiver.requests.length === 1);
    const stopped = stage.stop();
    await waitFor('it takes no more requests', () =>
      fetch(`${url}/healthz`).then(
        () => false,
        () => true,
      ),
    );
    end();
    expect((await stopped).code).toBe(0);
    stage.answer = (ending) => ending();

    const again = await stage.start();
    expect(await stage.deliveries(again)).toMatchObject([
      { status: 'delivered', attempts: [{ status_code: 200 }] },
    ]);
    expect(stage.receiver.requests).toHaveLength(1);
  });

  it('waits for an attempt that never ends no longer than its time, exits 0, and sends it again after the start', async () => {
    const env = { DELIVERY_TIMEOUT_MS: '1000', DELIVERY_RETRY_DELAYS_MS: '100,100,100' };
    const url = await stage.start(env);
    await stage.receiver.subscribe({ api: apiClient(url, KEY) }, 'message.received');
    stage.answer = () => {};
    await (await chatCustomer(url)).write('never answered');
    await waitFor('the request', () => stage.receiver.requests.length === 1);
    const { code, ms } = await stage.stop();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(10_000 + 14_000);
    stage.answer = (ending) => ending();
    const again = await stage.start(env);
    await waitFor(
      'the second attempt',
      async () => (await stage.deliveries(again))[0]?.status === 'delivered',
    );
    const ids = stage.receiver.payloads().map(({ id }) => id);
    expect(new Set(ids).size).toBe(1);
    expect(ids.length).toBeGreaterThan(1);
  });

  it('ends open chat streams, at once', async () => {
    const url = await stage.start();
    const customer = await chatCustomer(url);
    const open = () =>
      fetch(`${url}/api/chat/stream`, { headers: { authorization: `Bearer ${customer.token}` } });
    const streams = await Promise.all([open(), open(), open()]);
    for (const stream of streams) expect(stream.status).toBe(200);
    const ends = streams.map((stream) => stream.text().catch(() => 'cut'));
    const { code, ms } = await stage.stop();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(10_000);
    for (const end of await Promise.all(ends)) expect(end).not.toBe('cut');
  });

  onEmbeddedStore(it)(
    'while it is starting ends it with 0, whenever it comes',
    async () => {
      for (const delayMs of [0, 50, 100]) {
        const data = join(stage.storage.folder, String(delayMs));
        stage.child = spawn(process.execPath, [MAIN], {
          env: { ...BARE_ENV, PORT: '0', DATA_DIR: data },
        });
        await waitFor('its folder to be taken', () => existsSync(join(data, 'lock')), {
          everyMs: 2,
        });
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        expect((await stage.stop()).code).toBe(0);
      }
    },
    60_000,
  );
});
