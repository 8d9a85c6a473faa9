import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const DAY = 24 * 3_600_000;

describe('when the clock on the wall is set', () => {
  let service: TestService;
  let receiver: EventReceiver;
  let aheadMs: number;
  /** The texts of the events that came, in order. */
  const came = () => receiver.payloads().map(({ message }) => String(message.text));
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

  it('forward by a day, a waiting retry waits on, and signatures carry the new time', async () => {
    await start('60000,60000,60000');
    await write('fails once');
    await waitFor('the first attempt', () => came().length === 1);
    await waitFor('its record', async () => (await deliveriesOf())[0]?.attempts.length === 1);
    aheadMs = DAY;
    for (const text of ['a', 'b', 'c']) {
      await write(text);
      await waitFor('a delivery after the jump', () => came().at(-1) === text);
    }
    expect(came()).toEqual(['fails once', 'a', 'b', 'c']);
    const signedAt =
      Number(/t=(\d+)/.exec(String(receiver.requests.at(-1)!.headers['x-service-signature']))![1]) *
      1000;
    expect(Math.abs(signedAt - (Date.now() + DAY))).toBeLessThan(60_000);
  });

  it('back by a day, a waiting retry comes when its wait is over', async () => {
    await start('300,300,300');
    await write('fails once');
    await waitFor('the first attempt', () => came().length === 1);
    aheadMs = -DAY;
    await waitFor('the retry', () => came().length === 2);
    await write('after');
    await waitFor('what is emitted afterwards', () => came().at(-1) === 'after');
  });

  it('back by a day while the service is off, a waiting retry comes all the same', async () => {
    await start('1500,1500,1500');
    await write('fails once');
    await waitFor('its record', async () => (await deliveriesOf())[0]?.attempts.length === 1);
    aheadMs = -DAY;
    await service.restart();
    await waitFor('the retry', () => came().length === 2);
    expect(came()).toEqual(['fails once', 'fails once']);
  });

  async function deliveriesOf(): Promise<{ attempts: unknown[] }[]> {
    const [hook] = (await service.api.get('/api/hooks')).body.data;
    return (await service.api.get(`/api/hooks/${hook.id}/deliveries`)).body.data;
  }
});
