import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../../service/src/platform/ids.ts';
import { chatCustomer } from '../../../helpers/apiClient.ts';
import { MEMBER_ENV, signedInBrowser, type Browserless } from '../../../helpers/browserless.ts';
import { startEventReceiver, type EventReceiver } from '../../../helpers/eventReceiver.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { settledDeliveries } from '../settledDeliveries.ts';

const HOUR_MS = 3_600_000;

describe('resending failed deliveries', () => {
  let service: TestService;
  let receiver: EventReceiver;
  let browser: Browserless;
  let status: number;
  let aheadMs: number;
  let id: string;
  let path: string;

  beforeEach(async () => {
    status = 200;
    aheadMs = 0;
    receiver = await startEventReceiver(
      (_request, response) => void response.writeHead(status).end(),
    );
    service = await startTestService({
      ca: receiver.ca,
      env: MEMBER_ENV,
      clock: { now: () => new Date(Date.now() + aheadMs) },
    });
    ({ id } = await receiver.subscribe(service, 'message.received'));
    path = `/keys/subscriptions/${id}`;
  });
  afterEach(async () => {
    await service?.stop();
    await receiver?.close();
  });

  const settled = () => settledDeliveries(service, id);
  const write = async (count: number) => {
    const customer = await chatCustomer(service.url);
    for (let n = 0; n < count; n++) await customer.write(`message ${n}`);
    await settled();
  };
  /** Two days ago 4 failed, five hours ago 2; then the receiver was well again. */
  const outages = async () => {
    status = 400;
    await write(4);
    aheadMs = 43 * HOUR_MS;
    await write(2);
    aheadMs = 48 * HOUR_MS;
    status = 200;
    await write(1);
    browser = await signedInBrowser(service.url);
  };

  it('proposes the time of the subscription’s first failure, says what is sent and what is not, and sends all of it', async () => {
    await outages();
    const state = await browser.get(path);
    expect(state.text).toContain('State Active');
    expect(state.text).toContain('6 events have not arrived. Resend failed deliveries');
    expect((await browser.get('/keys')).text).toContain('Active Not all arrived');
    const page = await browser.get(`${path}/recover`);
    expect(page.text).toContain(
      '6 deliveries failed and never arrived: the first 2 days ago , the last 5 hours ago .',
    );
    expect(page.text).toContain('Will be sent 6 deliveries Will not be sent none');
    const other = await receiver.subscribe(service, 'message.sent');
    expect((await browser.get(`/keys/subscriptions/${other.id}/recover`)).text).toContain(
      'Nothing to resend',
    );
    expect((await browser.get('/keys/subscriptions/sub_00/recover')).status).toBe(404);
    const sent = await browser.post(`${path}/recover`, { since: page.value('since')! });
    expect(sent.path).toBe(`${path}?recovered=6&left=0`);
    expect(sent.text).toContain(
      '6 failed deliveries are being sent again. Nothing is left to resend.',
    );
    expect((await settled()).every((each) => each.status === 'delivered')).toBe(true);
    expect((await browser.get(path)).text).not.toContain('not arrived');
    expect((await browser.get(`${path}/recover`)).text).toContain('Nothing to resend');
  });

  it('counts what failed since another time before it sends, and keeps saying what was not sent', async () => {
    await outages();
    const since = new Date(Date.now() + 42 * HOUR_MS).toISOString().slice(0, 16);
    const counted = await browser.post(`${path}/recover`, { since, count: 'yes' });
    expect([counted.status, counted.value('since')]).toEqual([200, since]);
    expect(counted.text).toContain(
      'Will be sent 2 deliveries Will not be sent 4 that failed before this time',
    );
    expect((await settled()).filter((each) => each.status === 'failed')).toHaveLength(6);
    const sent = await browser.post(`${path}/recover`, { since });
    expect(sent.text).toContain(
      '2 failed deliveries are being sent again. 4 that failed before then were not resent. Resend them too',
    );
    await settled();
    expect((await browser.get(`${path}/live/state`)).text).toContain('4 events have not arrived.');
  });

  it('leaves failed test events out: they are neither counted nor sent, except one by one', async () => {
    status = 400;
    for (let n = 0; n < 3; n++) await service.api.post(`/api/hooks/${id}/test`);
    await settled();
    browser = await signedInBrowser(service.url);
    expect((await browser.get(path)).text).not.toContain('not arrived');
    expect((await browser.get('/keys')).text).not.toContain('Not all arrived');
    expect((await browser.get(`${path}/recover`)).text).toContain('Nothing to resend');

    await write(2);
    expect((await browser.get(path)).text).toContain('2 events have not arrived.');
    expect((await browser.get('/keys')).text).toContain('Not all arrived');
    const page = await browser.get(`${path}/recover`);
    expect(page.text).toContain('Will be sent 2 deliveries Will not be sent none');
    status = 200;
    const sent = await browser.post(`${path}/recover`, { since: page.value('since')! });
    expect(sent.text).toContain(
      '2 failed deliveries are being sent again. Nothing is left to resend.',
    );
    const failed = (await settled()).filter((each) => each.status === 'failed');
    expect(failed).toHaveLength(3);

    await service.api.post(`/api/hooks/${id}/deliveries/${failed[0]!.id}/redeliver`);
    expect((await settled()).filter((each) => each.status === 'failed')).toHaveLength(2);
  });

  it('says “more than” and “at least” when there are more than it counts', async () => {
    status = 400;
    await write(1);
    await service.changeStored(async (store) => {
      const [failed] = await store.transaction((tx) =>
        tx.deliveries.find({ where: { subscriptionId: id }, limit: 1 }),
      );
      await store.transaction(async (tx) => {
        for (let n = 0; n < 10_000; n++)
          await tx.deliveries.put({ ...failed!, id: newId('dlv'), eventId: newId('evt') });
      });
    });
    browser = await signedInBrowser(service.url);
    const page = await browser.get(`${path}/recover`);
    expect(page.text).toMatch(
      /More than 10,000 deliveries failed and never arrived: the first (now|\d+ \w+ ago) \./,
    );
    expect(page.text).toContain(
      'Will be sent at least 10,000 deliveries Will not be sent at least 0 that failed before this time',
    );
  });
});
