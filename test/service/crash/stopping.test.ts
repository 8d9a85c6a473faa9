import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { apiClient, chatCustomer, type ChatCustomer } from '../../helpers/apiClient.ts';
import { onEmbeddedStore } from '../../helpers/onEmbeddedStore.ts';
import { BARE_ENV, MAIN } from '../../helpers/program.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { KEY, StoppingStage } from './stoppingStage.ts';

const NEVER_ANSWERED = 'never answered';
const UNDER_WAY = 'under way';

describe('SIGTERM', () => {
  const stage = new StoppingStage();

  const requestsOf = (text: string) =>
    stage.receiver.payloads().filter(({ message }) => message.text === text);
  /** @returns for each stream, all that it sends until it ends, or `cut` if it breaks off */
  const openStreams = async (
    url: string,
    { token }: ChatCustomer,
  ): Promise<readonly Promise<string>[]> => {
    const headers = { authorization: `Bearer ${token}` };
    const open = () => fetch(`${url}/api/chat/stream`, { headers });
    const streams = await Promise.all([open(), open(), open()]);
    for (const stream of streams) expect(stream.status).toBe(200);
    return streams.map((stream) => stream.text().catch(() => 'cut'));
  };

  it('ends open chat streams at once, takes no more requests, lets an attempt under way end and records it, and does not wait for ever for one that hangs', async () => {
    const env = { DELIVERY_RETRY_DELAYS_MS: '100,100,100' };
    const url = await stage.start(env);
    const customer = await chatCustomer(url);
    await stage.receiver.subscribe({ api: apiClient(url, KEY) }, 'message.received');
    const streams = await openStreams(url, customer);
    let end = () => {};
    stage.answer = () => {};
    await customer.write(NEVER_ANSWERED);
    await waitFor('the request', () => requestsOf(NEVER_ANSWERED).length > 0);
    stage.answer = (ending) => (end = ending);
    await customer.write(UNDER_WAY);
    await waitFor('the request', () => requestsOf(UNDER_WAY).length > 0);
    const stopped = stage.stop();
    await waitFor('the service to take no more requests', () =>
      fetch(`${url}/healthz`).then(
        () => false,
        () => true,
      ),
    );
    end();
    for (const each of await Promise.all(streams)) expect(each).not.toBe('cut');
    const { code, ms } = await stopped;
    expect(code).toBe(0);
    expect(ms).toBeLessThan(10_000 + 14_000);

    stage.answer = (ending) => ending();
    const again = await stage.start(env);
    const deliveries = await waitFor('both to be delivered', async () => {
      const all = await stage.deliveries(again);
      return all.length === 2 && all.every(({ status }) => status === 'delivered') ? all : null;
    });
    const statusCodes = deliveries.map(({ attempts }) => attempts.map((each) => each.status_code));
    expect(statusCodes).toContainEqual([200]);
    expect(requestsOf(UNDER_WAY)).toHaveLength(1);
    const ids = requestsOf(NEVER_ANSWERED).map(({ id }) => id);
    expect(new Set(ids).size).toBe(1);
    expect(ids.length).toBeGreaterThan(1);

    const moreStreams = await openStreams(again, customer);
    const secondStop = await stage.stop(); // with nothing to wait for
    expect(secondStop.code).toBe(0);
    expect(secondStop.ms).toBeLessThan(10_000);
    for (const each of await Promise.all(moreStreams)) expect(each).not.toBe('cut');
  });

  onEmbeddedStore(it)(
    'ends a starting service with 0, whenever it comes',
    async () => {
      for (const delayMs of [0, 100]) {
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
