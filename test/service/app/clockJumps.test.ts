import { beforeEach, describe, expect, it } from '@jest/globals';
import { waitFor } from '../../helpers/waitFor.ts';
import { deliveryStage, status } from '../deliveries/deliveryStage.ts';

const DAY = 24 * 3_600_000;

describe('when the wall clock is set', () => {
  const stage = deliveryStage();
  const { write, texts: arrived } = stage;
  let aheadMs: number;
  beforeEach(() => {
    aheadMs = 0;
    stage.answer = (...first) => {
      stage.answer = null;
      status(500)(...first);
    };
  });

  const start = async (retryDelays: string) => {
    const clock = { now: () => new Date(Date.now() + aheadMs), steadyMs: () => performance.now() };
    await stage.start({ clock, env: { DELIVERY_RETRY_DELAYS_MS: retryDelays } });
    const made = await stage.subscribe();
    await write('fails once');
    await waitFor(
      'the first attempt on record',
      async () => (await stage.deliveries(made))[0]?.attempts.length === 1,
    );
  };

  it('forward by a day, a retry keeps its wait, and signatures carry the new time', async () => {
    await start('60000,60000,60000');
    aheadMs = DAY;
    for (const text of ['a', 'b', 'c']) {
      await write(text);
      await waitFor('a delivery after the jump', () => arrived().at(-1) === text);
    }
    expect(arrived()).toEqual(['fails once', 'a', 'b', 'c']);
    const { headers } = stage.receiver.requests.at(-1)!;
    const [, signedAtS] = /t=(\d+)/.exec(String(headers['x-service-signature']))!;
    expect(Math.abs(Number(signedAtS) * 1000 - (Date.now() + DAY))).toBeLessThan(60_000);
  });

  it('back by a day, a retry is sent when its wait is over', async () => {
    await start('1500,1500,1500');
    aheadMs = -DAY;
    await waitFor('the retry', () => arrived().length === 2);
    await write('after');
    await waitFor('what is emitted afterwards', () => arrived().at(-1) === 'after');
  });

  it('back by a day while the service is off, a retry is sent all the same', async () => {
    await start('1500,1500,1500');
    aheadMs = -DAY;
    await stage.service.restart();
    await waitFor('the retry', () => arrived().length === 2);
    expect(arrived()).toEqual(['fails once', 'fails once']);
  });
});
