import { describe, expect, it } from '@jest/globals';
import { MEMBER_ENV, signedInBrowser } from '../../helpers/browserless.ts';
import type { ReceiverHandler } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { totals } from '../overview/support.ts';
import { breakOff, deliveryStage, MINUTE_MS, status } from './deliveryStage.ts';

describe('a subscription that is removed while its receiver is taken down', () => {
  const stage = deliveryStage();
  const { start, subscribe, remove, deliveries, write, texts, delivered } = stage;
  const { holdAttempt, loopHasTurned } = stage;

  describe('an attempt that was under way at the removal', () => {
    /**
     * Removes the subscription while the receiver holds its answer. It answers when the `finish`
     * that is returned is called.
     */
    const removeMidway = async (answer: ReceiverHandler) => {
      const first = await subscribe();
      const finish = await holdAttempt();
      await remove(first);
      return { first, finish: () => finish(answer) };
    };

    it.each([
      ['404', status(404)],
      ['401', status(401)],
      ['500', status(500)],
      ['410', status(410)],
      ['a reset', breakOff],
    ])('and came back with %s after the revival is sent again', async (_what, answer) => {
      await start();
      const midway = await removeMidway(answer);
      const second = await subscribe();
      midway.finish();
      await delivered(second, 1);
      const [delivery] = await deliveries(second);
      expect(delivery.attempts).toMatchObject([
        {
          error: expect.stringMatching(
            /^(?!.*so the subscription was removed).*was removed or taken over during this attempt/,
          ),
        },
        { status_code: 200, trigger: 'automatic' },
      ]);
      expect(new Set(stage.receiver.payloads().map(({ id }) => id)).size).toBe(1);
      expect(stage.receiver.requests[1]!.headers['x-service-redelivery']).toBeUndefined();
      expect(stage.isSignedBy(second, 1)).toBe(true);
      const [shown] = (await stage.service.api.get('/api/hooks')).body.data;
      expect(shown).toMatchObject({ id: second.id, consecutive_failures: 0 });
    });

    it('and then fails for good counts once as failed', async () => {
      await start({ env: MEMBER_ENV });
      const midway = await removeMidway(status(404));
      const second = await subscribe();
      stage.answer = status(400);
      midway.finish();
      await waitFor(
        'the failure',
        async () => (await deliveries(second, '?status=failed')).length === 1,
      );
      const ana = await signedInBrowser(stage.service.url);
      expect(await totals(ana, 'deliveries')).toEqual({ Succeeded: 0, Failed: 2 });
      expect((await ana.get('/overview?range=24h')).text).toContain(
        '0 arrived, 1 failed for good.',
      );
    });

    it('and was a redelivery goes on as the same redelivery', async () => {
      await start();
      const first = await subscribe();
      await write('hello');
      await delivered(first, 1);
      let held: Parameters<ReceiverHandler> | undefined;
      stage.answer = (...each) => void (held = each);
      const [{ id }] = await deliveries(first);
      await stage.service.api.post(`/api/hooks/${first.id}/deliveries/${id}/redeliver`);
      await waitFor('the redelivery', () => held !== undefined);
      await remove(first);
      await subscribe();
      stage.answer = null;
      status(404)(...held!);
      await stage.received(3);
      const rounds = stage.receiver.requests.map(
        ({ headers }) => headers['x-service-redelivery-round'],
      );
      expect(rounds).toEqual([undefined, '1', '1']);
    });

    it('and came back with 404 before the revival waits for it', async () => {
      await start();
      const midway = await removeMidway(status(404));
      midway.finish();
      await loopHasTurned();
      expect(stage.receiver.requests).toHaveLength(1);
      const second = await subscribe();
      await delivered(second, 1);
      expect(stage.receiver.requests).toHaveLength(2);
    });

    it('and succeeds late is delivered and not repeated', async () => {
      await start();
      const midway = await removeMidway(status(200));
      const second = await subscribe();
      midway.finish();
      await delivered(second, 1);
      await loopHasTurned();
      expect(stage.receiver.requests).toHaveLength(1);
      expect((await deliveries(second))[0].attempts).toHaveLength(1);
    });

    it('and is answered 410 after a revival and another removal does not prevent a second revival', async () => {
      await start();
      const midway = await removeMidway(status(410));
      await remove(await subscribe());
      midway.finish();
      await loopHasTurned();
      const last = await subscribe();
      expect(last.id).toBe(midway.first.id);
      await delivered(last, 1);
    });

    it('and is answered 410 before a revival ends the subscription at once', async () => {
      await start();
      const midway = await removeMidway(status(410));
      await write('in between');
      midway.finish();
      await loopHasTurned();
      const second = await subscribe();
      await loopHasTurned();
      expect(await deliveries(second)).toEqual([]);
      expect(stage.receiver.requests).toHaveLength(1);
    });
  });

  it('what was turned away before the removal is sent again when it met a 404 or 401 within the last minute, and only that', async () => {
    await start();
    const first = await subscribe();
    let failures = 0;
    const fail = async (code: number, text: string) => {
      stage.answer = status(code);
      failures += 1;
      await write(text);
      await waitFor(
        'the failure',
        async () => (await deliveries(first, '?status=failed')).length === failures,
      );
    };
    await fail(404, 'long gone');
    stage.clock.advance(2 * MINUTE_MS);
    await fail(404, 'just gone');
    await fail(401, 'other secret');
    await fail(400, 'refused');
    await remove(first);
    stage.answer = null;
    await loopHasTurned();
    expect(stage.receiver.requests).toHaveLength(4);
    const second = await subscribe();
    await delivered(second, 2);
    await loopHasTurned();
    expect(texts().slice(4).sort()).toEqual(['just gone', 'other secret']);
    expect(
      stage.receiver.requests.slice(4).map(({ headers }) => headers['x-service-redelivery']),
    ).toEqual([undefined, undefined]);

    // What failed for other reasons can still be recovered.
    const since = new Date(stage.clock.now().getTime() - 10 * MINUTE_MS).toISOString();
    expect(
      (await stage.service.api.post(`/api/hooks/${second.id}/recover`, { since })).body,
    ).toEqual({ redelivered: 2 });
    await delivered(second, 4);
    expect(texts().slice(6).sort()).toEqual(['long gone', 'refused']);
  });

  it('a test event that was turned away before the removal does not come again', async () => {
    await start();
    const first = await subscribe();
    stage.answer = status(404);
    await stage.service.api.post(`/api/hooks/${first.id}/test`);
    await write('just gone');
    await waitFor(
      'both failures',
      async () => (await deliveries(first, '?status=failed')).length === 2,
    );
    await remove(first);
    stage.answer = null;
    const second = await subscribe();
    await delivered(second, 1);
    await loopHasTurned();
    expect(texts().slice(2)).toEqual(['just gone']);
    expect(await deliveries(second, '?status=failed')).toHaveLength(1);
  });
});
