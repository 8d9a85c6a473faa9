import { beforeEach, describe, expect, it } from '@jest/globals';
import { waitFor } from '../../helpers/waitFor.ts';
import { breakOff, deliveryStage, status, type Made } from './deliveryStage.ts';
import { deliveriesOf, settledDeliveries } from './settledDeliveries.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

describe('a subscription that catches up after an outage', () => {
  const stage = deliveryStage();
  const { write, texts: arrived } = stage;
  beforeEach(() =>
    stage.start({ env: { DELIVERY_RETRY_DELAYS_MS: '10,10,10', DELIVERY_TIMEOUT_MS: '5000' } }),
  );

  const subscribe = () => stage.subscribe({ catch_up: true });
  /** Oldest first. */
  const deliveries = async ({ id }: Made) => (await deliveriesOf(stage.service, id)).toReversed();
  const statuses = async (made: Made) => (await deliveries(made)).map((each) => each.status);
  const settled = ({ id }: Made) => settledDeliveries(stage.service, id);
  /** Writes while every connection breaks, until every delivery has failed. */
  const writeDuringOutage = async (made: Made, ...texts: string[]) => {
    stage.answer = breakOff;
    await write(...texts);
    await settled(made);
  };
  const comeBack = (handler = status(200)) => {
    stage.receiver.requests.length = 0;
    stage.answer = handler;
  };

  it('gets what it missed with the first success, once each, with the same ids and one attempt', async () => {
    const made = await subscribe();
    await write('before');
    await settled(made);
    await writeDuringOutage(made, 'missed 1', 'missed 2', 'missed 3');
    expect(await statuses(made)).toEqual(['delivered', 'failed', 'failed', 'failed']);
    const missed = (await deliveries(made)).slice(1).map((each) => each.event_id);
    comeBack();
    await write('after');
    await waitFor('the catch-up', () => stage.receiver.requests.length === 4);
    await settled(made);
    expect(arrived()[0]).toBe('after');
    expect(arrived().toSorted()).toEqual(['after', 'missed 1', 'missed 2', 'missed 3']);
    const caughtUp = stage.receiver.requests.slice(1);
    expect(caughtUp.map(({ headers }) => headers['x-service-delivery']).toSorted()).toEqual(
      missed.toSorted(),
    );
    expect(caughtUp.every(({ headers }) => !('x-service-redelivery' in headers))).toBe(true);
    for (const { status: state, attempts } of (await deliveries(made)).slice(1, 4)) {
      expect(state).toBe('delivered');
      expect(attempts.map(({ trigger }) => trigger)).toEqual([
        ...Array<string>(4).fill('automatic'),
        'catch_up',
      ]);
    }
  });

  it('makes one attempt each: what fails again stays failed, and the next success does not send it', async () => {
    const made = await subscribe();
    await writeDuringOutage(made, 'missed');
    let isFirst = true;
    comeBack((request, response, raw) => {
      status(isFirst ? 200 : 503)(request, response, raw);
      isFirst = false;
    });
    await write('begins it');
    await waitFor('the catch-up', () => stage.receiver.requests.length === 2);
    await settled(made);
    expect(await statuses(made)).toEqual(['failed', 'delivered']);
    isFirst = true;
    await write('another success');
    await settled(made);
    await write('missed later');
    await settled(made);
    isFirst = true;
    await write('begins another');
    await waitFor(
      'the second catch-up',
      async () => (await deliveries(made))[3]!.attempts.length === 5,
    );
    await settled(made);
    expect((await deliveries(made))[0]!.attempts).toHaveLength(5);
  });

  it('leaves alone what the receiver refused, and what is older than a day', async () => {
    const made = await subscribe();
    stage.answer = status(400);
    await write('refused');
    await settled(made);
    await writeDuringOutage(made, 'two days ago');
    stage.clock.advance(2 * DAY_MS);
    await write('missed');
    await settled(made);
    comeBack();
    await write('after');
    await waitFor('the catch-up', () => stage.receiver.requests.length === 2);
    await settled(made);
    expect(arrived()).toEqual(['after', 'missed']);
    expect(await statuses(made)).toEqual(['failed', 'failed', 'delivered', 'delivered']);
  });

  it('leaves alone test events that failed; one that arrives begins it', async () => {
    const made = await subscribe();
    const sendTest = async () => {
      await stage.service.api.post(`/api/hooks/${made.id}/test`);
      await settled(made);
    };
    await writeDuringOutage(made, 'missed');
    for (let n = 0; n < 3; n++) await sendTest();
    expect(await statuses(made)).toEqual(Array(4).fill('failed'));
    comeBack();
    await sendTest();
    await waitFor('the catch-up', async () => (await statuses(made))[0] === 'delivered');
    await stage.loopHasTurned();
    expect(stage.receiver.requests).toHaveLength(2);
    expect(arrived()[1]).toBe('missed');
    expect(await statuses(made)).toEqual(['delivered', 'failed', 'failed', 'failed', 'delivered']);
  });

  it('begins after a 404 too: n8n answers so while it starts, and some proxies while it is stopped', async () => {
    const made = await subscribe();
    stage.answer = status(404);
    await write('missed');
    await settled(made);
    expect(await statuses(made)).toEqual(['failed']);
    comeBack();
    await write('after');
    await waitFor('the catch-up', () => stage.receiver.requests.length === 2);
    await settled(made);
    expect(arrived()).toEqual(['after', 'missed']);
    expect(await statuses(made)).toEqual(['delivered', 'delivered']);
  });

  it('is off unless asked for; switched on in an outage, it catches up', async () => {
    const off = await stage.subscribe({ target_url: `${stage.receiver.url}/off` });
    const on = await stage.subscribe({ target_url: `${stage.receiver.url}/on` });
    await writeDuringOutage(off, 'missed');
    await settled(on);
    await stage.service.api.patch(`/api/hooks/${on.id}`, { catch_up: true });
    comeBack();
    await write('after');
    await waitFor(
      'the catch-up',
      async () => (await statuses(on)).join() === 'delivered,delivered',
    );
    expect(await statuses(off)).toEqual(['failed', 'delivered']);
    expect(stage.receiver.requests.map(({ path }) => path).toSorted()).toEqual([
      '/off',
      '/on',
      '/on',
    ]);
  });

  it('survives a restart, and sends no more at once than the in-flight limit', async () => {
    const made = await subscribe();
    await writeDuringOutage(made, ...Array.from({ length: 9 }, (_, n) => `missed ${n}`));
    await stage.restart();
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
    await write('after');
    await waitFor('the first of the catch-up', () => stage.receiver.requests.length > 2);
    await stage.service.restart();
    await waitFor('the catch-up', async () =>
      (await statuses(made)).every((each) => each === 'delivered'),
    );
    // 4 at the start of a process
    expect(most).toBeLessThanOrEqual(4);
    expect(new Set(arrived()).size).toBe(10);
  });
});
