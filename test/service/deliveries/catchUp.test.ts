import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chatCustomer, type ChatCustomer } from '../../helpers/apiClient.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { startTlsReceiver, type ReceiverHandler, type TlsReceiver } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

const status =
  (code: number): ReceiverHandler =>
  (_request, response) =>
    void response.writeHead(code).end();
const breakOff: ReceiverHandler = (_request, _response, raw) => void raw.socket.destroy();

interface ShownDelivery {
  readonly id: string;
  readonly event_id: string;
  readonly status: string;
  readonly attempts: readonly { readonly trigger: string; readonly status_code: number | null }[];
}

describe('a subscription that catches up after an outage', () => {
  let service: TestService;
  let receiver: TlsReceiver;
  let customer: ChatCustomer;
  let answer: ReceiverHandler;
  let skewMs = 0;
  const clock = { now: () => new Date(Date.now() + skewMs) };
  beforeEach(async () => {
    skewMs = 0;
    answer = status(200);
    receiver = await startTlsReceiver((request, response, raw) => answer(request, response, raw));
    service = await startTestService({
      ca: receiver.ca,
      clock,
      env: { DELIVERY_RETRY_DELAYS_MS: '10,10,10', DELIVERY_TIMEOUT_MS: '5000' },
    });
    customer = await chatCustomer(service.url);
  });
  afterEach(async () => {
    await service?.stop();
    await receiver?.close();
  });

  const subscribe = async (wanted: object = { catch_up: true }) => {
    const { status: code, body } = await service.api.post('/api/hooks', {
      event: 'message.received',
      target_url: `${receiver.url}/events`,
      ...wanted,
    });
    expect({ code, body }).toMatchObject({ code: 201 });
    return body.id as string;
  };
  /** Oldest first. */
  const deliveries = async (id: string): Promise<ShownDelivery[]> =>
    (await service.api.get(`/api/hooks/${id}/deliveries?limit=200`)).body.data.toReversed();
  const statuses = async (id: string) => (await deliveries(id)).map((each) => each.status);
  const settled = (id: string) =>
    waitFor('all deliveries', async () => !(await statuses(id)).includes('pending'));
  /** Writes while every connection breaks, until every delivery has failed. */
  const writeDuringOutage = async (id: string, ...texts: string[]) => {
    answer = breakOff;
    for (const text of texts) await customer.write(text);
    await settled(id);
  };
  const comeBack = (handler = status(200)) => {
    receiver.requests.length = 0;
    answer = handler;
  };
  const arrived = () =>
    receiver.requests.map(({ rawBody }) => JSON.parse(String(rawBody)).message.text as string);

  it('gets what it missed with the first success, once each, with the same ids and one attempt', async () => {
    const id = await subscribe();
    await customer.write('before');
    await settled(id);
    await writeDuringOutage(id, 'missed 1', 'missed 2', 'missed 3');
    expect(await statuses(id)).toEqual(['delivered', 'failed', 'failed', 'failed']);
    const missed = (await deliveries(id)).slice(1).map((each) => each.event_id);
    comeBack();
    await customer.write('after');
    await waitFor('the catch-up', () => receiver.requests.length === 4);
    await settled(id);
    expect(arrived()[0]).toBe('after');
    expect(arrived().toSorted()).toEqual(['after', 'missed 1', 'missed 2', 'missed 3']);
    const caughtUp = receiver.requests.slice(1);
    expect(caughtUp.map(({ headers }) => headers['x-service-delivery']).toSorted()).toEqual(
      missed.toSorted(),
    );
    expect(caughtUp.every(({ headers }) => !('x-service-redelivery' in headers))).toBe(true);
    for (const { status: state, attempts } of (await deliveries(id)).slice(1, 4)) {
      expect(state).toBe('delivered');
      expect(attempts.map(({ trigger }) => trigger)).toEqual([
        ...Array<string>(4).fill('automatic'),
        'catch_up',
      ]);
    }
  });

  it('makes one attempt each: what fails again stays failed, and the next success does not send it', async () => {
    const id = await subscribe();
    await writeDuringOutage(id, 'missed');
    let isFirst = true;
    comeBack((request, response, raw) => {
      status(isFirst ? 200 : 503)(request, response, raw);
      isFirst = false;
    });
    await customer.write('begins it');
    await waitFor('the catch-up', () => receiver.requests.length === 2);
    await settled(id);
    expect(await statuses(id)).toEqual(['failed', 'delivered']);
    isFirst = true;
    await customer.write('another success');
    await settled(id);
    await customer.write('missed later');
    await settled(id);
    isFirst = true;
    await customer.write('begins another');
    await waitFor(
      'the second catch-up',
      async () => (await deliveries(id))[3]!.attempts.length === 5,
    );
    await settled(id);
    expect((await deliveries(id))[0]!.attempts).toHaveLength(5);
  });

  it('leaves alone what the receiver refused, and what is older than a day', async () => {
    const id = await subscribe();
    answer = status(400);
    await customer.write('refused');
    await settled(id);
    await writeDuringOutage(id, 'two days ago');
    skewMs = 2 * DAY_MS;
    await customer.write('missed');
    await settled(id);
    comeBack();
    await customer.write('after');
    await waitFor('the catch-up', () => receiver.requests.length === 2);
    await settled(id);
    expect(arrived()).toEqual(['after', 'missed']);
    expect(await statuses(id)).toEqual(['failed', 'failed', 'delivered', 'delivered']);
  });

  it('begins after a 404 too: n8n answers so while it starts, and some proxies while it is stopped', async () => {
    const id = await subscribe();
    answer = status(404);
    await customer.write('missed');
    await settled(id);
    expect(await statuses(id)).toEqual(['failed']);
    comeBack();
    await customer.write('after');
    await waitFor('the catch-up', () => receiver.requests.length === 2);
    await settled(id);
    expect(arrived()).toEqual(['after', 'missed']);
    expect(await statuses(id)).toEqual(['delivered', 'delivered']);
  });

  it('is off unless asked for; switched on in an outage, it catches up', async () => {
    const off = await subscribe({ target_url: `${receiver.url}/off` });
    const on = await subscribe({ target_url: `${receiver.url}/on` });
    await writeDuringOutage(off, 'missed');
    await settled(on);
    await service.api.patch(`/api/hooks/${on}`, { catch_up: true });
    comeBack();
    await customer.write('after');
    await waitFor(
      'the catch-up',
      async () => (await statuses(on)).join() === 'delivered,delivered',
    );
    expect(await statuses(off)).toEqual(['failed', 'delivered']);
    expect(receiver.requests.map(({ path }) => path).toSorted()).toEqual(['/off', '/on', '/on']);
  });

  it('survives a restart, and sends no more at once than the in-flight limit', async () => {
    const id = await subscribe();
    await writeDuringOutage(id, ...Array.from({ length: 9 }, (_, n) => `missed ${n}`));
    await service.restart();
    customer = await chatCustomer(service.url);
    let underWay = 0;
    let most = 0;
    comeBack((_request, response) => {
      most = Math.max(most, ++underWay);
      // neither fast nor slow for a deadline of five seconds: the limit stays where it is
      setTimeout(() => {
        underWay--;
        response.end();
      }, 700);
    });
    await customer.write('after');
    await waitFor('the first of the catch-up', () => receiver.requests.length > 2);
    await service.restart();
    await waitFor('the catch-up', async () =>
      (await statuses(id)).every((each) => each === 'delivered'),
    );
    // 4 at the start of a process
    expect(most).toBeLessThanOrEqual(4);
    expect(new Set(arrived()).size).toBe(10);
  });
});
