import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { startCommitProxy, type CommitProxy } from './commitProxy.ts';
import {
  expectRecovery,
  openOutageStage,
  waitUntilReady,
  type OutageStage,
} from './outageStage.ts';

const CUTS = 15;
const STRIKES = 3;

describe('when connections to PostgreSQL are cut', () => {
  let stage: OutageStage;
  let proxy: CommitProxy;

  beforeAll(async () => {
    stage = await openOutageStage({
      roles: ['api', 'worker'],
      through: async (url) => {
        proxy = await startCommitProxy(url);
        return proxy.url;
      },
    });
  }, 120_000);
  afterEach(() => proxy?.setOpen(true));
  afterAll(async () => {
    await stage?.close();
    await proxy?.close();
  });

  it('one after the other in the middle of whatever they do, what was not committed is done again, and nobody notices', async () => {
    const writers = await stage.startWriters();
    let inTheMiddle = 0;
    for (let n = 0; n < CUTS; n += 1) {
      // Those in a transaction first.
      const [cut] = await stage.cluster.query<{ busy: boolean }>(
        `SELECT pg_terminate_backend(pid), xact_start IS NOT NULL AS busy FROM (
          SELECT pid, xact_start FROM pg_stat_activity WHERE application_name LIKE $1 ORDER BY xact_start NULLS LAST LIMIT 1) a`,
        [`${stage.cluster.schema}-%`],
      );
      if (cut?.busy) inTheMiddle += 1;
      await sleep(100);
    }
    expect(inTheMiddle).toBeGreaterThan(0);
    await expectRecovery(writers, stage, [202]);
  }, 180_000);

  it.each([
    ['after the server has committed', 'answer'],
    ['before the commit arrives', 'request'],
  ] as const)(
    '%s, the message is acknowledged, and stored once',
    async (_what, strike) => {
      const [api] = stage.cluster.processes;
      const customer = await chatCustomer(api!.url);
      const texts: string[] = [];
      for (let n = 0; n < STRIKES; n += 1) {
        const text = `Struck ${randomUUID()}`;
        const { struck } = proxy;
        proxy.strikeNext(text, strike);
        await customer.write(text); // asserts a 202
        expect(proxy.struck).toBe(struck + 1);
        texts.push(text);
      }
      expect((await customer.read()).map(({ text }: { text: string }) => text)).toEqual(texts);
      await waitFor('each to be delivered', () =>
        texts.every((text) =>
          stage.receiver.payloads('message.received').some(({ message }) => message.text === text),
        ),
      );
    },
    180_000,
  );

  it('and nobody can say what became of a commit, the answer is 503; the same call made again gets the first message', async () => {
    const [api] = stage.cluster.processes;
    const customer = await chatCustomer(api!.url);
    const text = `In doubt ${randomUUID()}`;
    const write = () =>
      customer.api.post('/api/chat/messages', { text, client_message_id: 'the-same' });
    proxy.strikeNext(text, 'answer', true);
    expect(await write()).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } });
    proxy.setOpen(true);
    await waitUntilReady(stage.cluster);
    const stored = await customer.read();
    expect(stored).toMatchObject([{ text }]);
    expect(await write()).toMatchObject({ status: 202, body: { message_id: stored[0].id } });
    expect(await customer.read()).toEqual(stored);
  }, 180_000);
});
