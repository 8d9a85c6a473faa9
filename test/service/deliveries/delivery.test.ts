import { describe, expect, it } from '@jest/globals';
import {
  recordAttempt,
  recordLateAttempt,
  requeue,
  judge,
  type Delivery,
} from '../../../service/src/deliveries/delivery.ts';
import { storedDelivery } from '../../helpers/storedDelivery.ts';

const NOW = new Date('2026-11-21T10:00:00Z');

describe('attempts', () => {
  const delivery = storedDelivery({ createdAt: NOW.toISOString() });
  const attempt = {
    at: NOW.toISOString(),
    statusCode: 500,
    durationMs: 1,
    error: 'x',
    responseExcerpt: null,
  };
  const DELAYS = [5000, 60_000, 600_000];
  const fail = (current: Delivery, random = 0.5) =>
    recordAttempt(current, attempt, 'retry', DELAYS, NOW, random);
  const waitMs = ({ nextAttemptAt }: Delivery) =>
    nextAttemptAt === null ? null : Date.parse(nextAttemptAt) - NOW.getTime();
  const failFourTimes = (random?: number) => {
    let current = delivery;
    const waits = [];
    for (let n = 0; n < 4; n++) {
      current = fail(current, random);
      waits.push(waitMs(current));
    }
    return { waits, failed: current };
  };

  it('waits 5 s, 1 min and 10 min between attempts, ±20 %, then gives up', () => {
    expect(failFourTimes(0.5)).toMatchObject({
      waits: [5000, 60_000, 600_000, null],
      failed: { status: 'failed' },
    });
    expect(failFourTimes(0).waits).toEqual([4000, 48_000, 480_000, null]);
    expect(failFourTimes(1).waits).toEqual([6000, 72_000, 720_000, null]);
  });

  it('records an attempt that ends late, which uses up no retry', () => {
    const once = fail(delivery);
    const late = recordLateAttempt(once, attempt, 'retry');
    expect(late).toMatchObject({ status: 'pending', nextAttemptAt: once.nextAttemptAt });
    expect(late.attempts.map(({ number }) => number)).toEqual([1, 2]);
    const next = fail(late);
    expect(waitMs(next)).toBe(DELAYS[1]);
    const last = fail(next);
    expect(last.status).toBe('pending');
    expect(fail(last)).toMatchObject({
      status: 'failed',
      // Another start would be another redelivery to the receiver, and the failure would not count.
      roundStart: delivery.roundStart,
    });
  });

  it('counts the delivery as delivered when an attempt succeeds late', () => {
    const once = fail(delivery);
    expect(recordLateAttempt(once, { ...attempt, statusCode: 200 }, 'success')).toMatchObject({
      status: 'delivered',
      everDelivered: true,
      nextAttemptAt: null,
    });
  });

  it('a redelivery has its own three retries', () => {
    const { failed } = failFourTimes();
    const again = fail(requeue(failed, { trigger: 'manual', isRepeat: true }, NOW));
    expect(again).toMatchObject({ status: 'pending', attempts: { length: 5 } });
    expect(waitMs(again)).toBe(5000);
  });

  it.each([
    [200, 'success'],
    [204, 'success'],
    [299, 'success'],
    [300, 'failure'],
    [301, 'failure'],
    [400, 'failure'],
    [404, 'failure'],
    [410, 'gone'],
    [429, 'failure'],
    [499, 'failure'],
    [500, 'retry'],
    [503, 'retry'],
    [599, 'retry'],
    [null, 'retry'],
  ] as const)('status %s is a %s', (status, verdict) => expect(judge(status)).toBe(verdict));
});
