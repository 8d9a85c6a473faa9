import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chatCustomer, type ChatCustomer } from '../../helpers/apiClient.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { sharedTestCa, startTlsReceiver, type TlsReceiver } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { settledDeliveries } from './settledDeliveries.ts';

const OTHERS = 24;
const SLOW_MACHINE = { timeoutMs: 40_000 };
const TEST_MS = 120_000;

describe('one bad subscriber and 24 others', () => {
  let service: TestService;
  let good: TlsReceiver;
  let bad: TlsReceiver;
  let customer: ChatCustomer;
  let conversationId: string;
  let answerBad: (response: ServerResponse) => void;

  beforeEach(async () => {
    [good, bad] = await Promise.all([
      startTlsReceiver((_request, response) => void response.end('ok')),
      startTlsReceiver((_request, response) => answerBad(response)),
    ]);
    service = await startTestService({
      ca: (await sharedTestCa()).ca,
      // No request of the bad one times out, however long a busy machine takes.
      env: { DELIVERY_RETRY_DELAYS_MS: '5000,30000,120000', DELIVERY_TIMEOUT_MS: '60000' },
    });
    customer = await chatCustomer(service.url);
    conversationId = (await customer.write('hello')).conversation_id;
  });
  afterEach(async () => {
    answerBad = (response) => void response.end('ok');
    await service.stop();
    await Promise.all([good.close(), bad.close()]);
  });

  const subscribe = async (event: string, target_url: string): Promise<string> =>
    (await service.api.post('/api/hooks', { event, target_url, source: 'test' })).body.id;
  /** @returns the subscription of the bad one, whose event is not that of the others */
  const subscribeAll = async () => {
    const hook = await subscribe('message.sent', `${bad.url}/bad`);
    for (let n = 0; n < OTHERS; n += 1) await subscribe('message.received', `${good.url}/${n}`);
    return hook;
  };
  const all = (count: number, run: (n: number) => Promise<unknown>) =>
    Promise.all(Array.from({ length: count }, (_, n) => run(n)));
  const sendAnswers = (count: number) =>
    all(count, () =>
      service.api.post(`/api/conversations/${conversationId}/messages`, { text: 'An answer.' }),
    );
  /** How many events a receiver has got, counted once for each of its addresses. */
  const eventsAt = ({ requests }: TlsReceiver) =>
    new Set(requests.map(({ path, headers }) => `${path} ${String(headers['x-service-delivery'])}`))
      .size;

  it(
    'everything for the others arrives while the bad one leaves its first requests unanswered and many wait behind them',
    async () => {
      const held: ServerResponse[] = [];
      answerBad = (response) => void held.push(response);
      await subscribeAll();
      await sendAnswers(60);
      await waitFor('its first requests', () => held.length > 0);
      await all(4, (n) => customer.write(`message ${n}`));
      await waitFor('all events of the others', () => eventsAt(good) === 4 * OTHERS, SLOW_MACHINE);
      // The bad one was sent no more requests than its limit at the start.
      expect(held.length).toBeLessThanOrEqual(4);

      answerBad = (response) => void response.end('ok');
      for (const response of held) response.end('ok');
      await waitFor('what waited', () => eventsAt(bad) === 60, SLOW_MACHINE);
    },
    TEST_MS,
  );

  it(
    'one that only fails is tried ten times a second at most, and each of its events still gets its turn',
    async () => {
      let isWell = false;
      const triedAt: number[] = [];
      answerBad = (response) => {
        triedAt.push(performance.now());
        response.writeHead(isWell ? 200 : 500).end();
      };
      const hook = await subscribeAll();
      await sendAnswers(40);
      await all(2, (n) => customer.write(`message ${n}`));
      await waitFor('all events of the others', () => eventsAt(good) === 2 * OTHERS, SLOW_MACHINE);
      await waitFor('more than the first failures', () => triedAt.length > 12);
      // From the fifth on, each came a tenth of a second after the one before had failed.
      const pausesMs = triedAt.slice(5, 13).map((at, n) => at - triedAt[n + 4]!);
      expect(Math.min(...pausesMs)).toBeGreaterThan(95);

      isWell = true;
      await waitFor('what waited', () => eventsAt(bad) === 40, SLOW_MACHINE);
      const deliveries = await settledDeliveries(service, hook);
      expect(deliveries.filter(({ status }) => status === 'delivered')).toHaveLength(40);
    },
    TEST_MS,
  );
});

describe('a burst at a receiver that handles one request after the other', () => {
  // The bench measures this at full size: 1,000 events, ten a second, the real deadline of 10 s.
  const EVENTS = 90;
  const SERVICE_MS = 70;
  const TIMEOUT_MS = 5000;

  it(
    'arrives complete, without a single time-out, though all of it at once would take longer than the deadline',
    async () => {
      let line = Promise.resolve();
      const receiver = await startTlsReceiver((_request, response) => {
        line = line.then(async () => {
          await new Promise((resolve) => setTimeout(resolve, SERVICE_MS));
          response.end('ok');
        });
      });
      const service = await startTestService({
        ca: receiver.ca,
        env: { DELIVERY_TIMEOUT_MS: String(TIMEOUT_MS) },
      });
      try {
        const customer = await chatCustomer(service.url);
        const hook = (
          await service.api.post('/api/hooks', {
            event: 'message.received',
            target_url: receiver.url,
            source: 'test',
          })
        ).body.id as string;
        await Promise.all(Array.from({ length: EVENTS }, (_, n) => customer.write(`message ${n}`)));
        const deliveries = await settledDeliveries(service, hook);
        expect(deliveries).toHaveLength(EVENTS);
        for (const { status, attempts } of deliveries)
          expect([status, attempts.length]).toEqual(['delivered', 1]);
        expect(receiver.requests.length).toBe(EVENTS);
      } finally {
        await service.stop();
        await receiver.close();
      }
    },
    TEST_MS,
  );
});
