import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const DAY = 24 * 3_600_000;

describe('when the wall clock is set', () => {
  let service: TestService;
  let receiver: EventReceiver;
  let aheadMs: number;
  /** The texts of the messages in the events that arrived, in order. */
  const arrived = () => receiver.payloads().map(({ message }) => String(message.text));
  const start = async (retryDelays: string) => {
    const clock = { now: () => new Date(Date.now() + aheadMs), steadyMs: () => performance.now() };
    service = await startTestService({
      ca: receiver.ca,
      clock,
      env: { DELIVERY_RETRY_DELAYS_MS: retryDelays },
    });
    await receiver.subscribe(service, 'message.received');
  };
  const write = async (text: string) => (await chatCustomer(service.url)).write(text);

  beforeEach(async () => {
    aheadMs = 0;
    let number = 0;
    receiver = await startEventReceiver(
      (_request, response) => void response.writeHead(++number === 1 ? 500 : 200).end(),
    );
  });
  afterEach(async () => {
    await service?.stop();
    await receiver?.close();
  });

  it('forward by a day, a retry keeps its wait, and signatures carry the new time', async () => {
    await start('60000,60000,60000');
    await write('fails once');
    await waitFor('the first attempt', () => arrived().length === 1);
    await waitFor('the record', async () => (await listDeliveries())[0]?.attempts.length === 1);
    aheadMs = DAY;
    for (const text of ['a', 'b', 'c']) {
      await write(text);
      await waitFor('a delivery after the jump', () => arrived().at(-1) === text);
    }
    expect(arrived()).toEqual(['fails once', 'a', 'b', 'c']);
    const signedAt =
      Number(/t=(\d+)/.exec(String(receiver.requests.at(-1)!.headers['x-service-signature']))![1]) *
      1000;
    expect(Math.abs(signedAt - (Date.now() + DAY))).toBeLessThan(60_000);
  });

  it('back by a day, a retry is sent when its wait is over', async () => {
    await start('300,300,300');
    await write('fails once');
    await waitFor('the first attempt', () => arrived().length === 1);
    aheadMs = -DAY;
    await waitFor('the retry', () => arrived().length === 2);
    await write('after');
    await waitFor('what is emitted afterwards', () => arrived().at(-1) === 'after');
  });

  it('back by a day while the service is off, a retry is sent all the same', async () => {
    await start('1500,1500,1500');
    await write('fails once');
    await waitFor('the record', async () => (await listDeliveries())[0]?.attempts.length === 1);
    aheadMs = -DAY;
    await service.restart();
    await waitFor('the retry', () => arrived().length === 2);
    expect(arrived()).toEqual(['fails once', 'fails once']);
  });

  async function listDeliveries(): Promise<{ attempts: unknown[] }[]> {
    const [hook] = (await service.api.get('/api/hooks')).body.data;
    return (await service.api.get(`/api/hooks/${hook.id}/deliveries`)).body.data;
  }
});
