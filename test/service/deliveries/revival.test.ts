import { describe, expect, it } from '@jest/globals';
import { readMetrics } from '../../helpers/metrics.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { MINUTE_MS, SECOND_MS, deliveryStage, status } from './deliveryStage.ts';

describe('a removed subscription that is made again', () => {
  const stage = deliveryStage();
  const { start, subscribe, remove, deliveries, write, texts, received, delivered, loopHasTurned } =
    stage;

  it('is revived under its id: what was pending and what was emitted in between is sent with the new secret, and nothing before the revival', async () => {
    await start({ env: { DELIVERY_RETRY_DELAYS_MS: '200,200,200' } });
    const first = await subscribe();
    stage.answer = status(503);
    await write('pending');
    await received(1);
    await remove(first);
    const before = stage.receiver.requests.length;
    stage.answer = null;
    await write('in between 1', 'in between 2');
    await loopHasTurned();
    // An attempt that was under way at the removal may still have arrived.
    expect(stage.receiver.requests.length - before).toBeLessThanOrEqual(1);
    expect(texts().filter((text) => text.startsWith('in between'))).toEqual([]);
    expect((await stage.service.api.get('/api/hooks')).body.data).toEqual([]);
    expect((await stage.service.api.get(`/api/hooks/${first.id}/deliveries`)).status).toBe(404);

    const seen = stage.receiver.requests.length;
    const second = await subscribe();
    expect(second).toMatchObject({ id: first.id, revision: 2 });
    expect(second.secret).not.toBe(first.secret);
    await delivered(second, 3);
    for (const nth of [seen, seen + 1, seen + 2]) {
      expect(stage.isSignedBy(second, nth)).toBe(true);
      expect(stage.isSignedBy(first, nth)).toBe(false);
    }
    expect(texts().slice(seen).sort()).toEqual(['in between 1', 'in between 2', 'pending']);
    const byEvent = Map.groupBy(stage.receiver.payloads(), ({ message }) => message.text);
    expect(new Set(byEvent.get('pending')!.map(({ id }) => id)).size).toBe(1);
  });

  it('keeps its deliveries and their attempts', async () => {
    await start({ env: { DELIVERY_RETRY_DELAYS_MS: '100,60000,60000' } });
    const first = await subscribe();
    await write('arrives');
    await delivered(first, 1);
    stage.answer = status(503);
    await write('waits');
    await received(3);
    await waitFor(
      'two attempts on record',
      async () => (await deliveries(first))[0].attempts.length === 2,
    );
    await remove(first);
    await stage.service.restart();
    stage.answer = null;
    const second = await subscribe();
    stage.clock.advance(2 * MINUTE_MS);
    await delivered(second, 2);
    const [waited, arrived] = await deliveries(second);
    expect(waited).toMatchObject({
      status: 'delivered',
      next_attempt_at: null,
      attempts: [
        {
          number: 1,
          status_code: 503,
          error: 'The receiver answered 503.',
          response_excerpt: 'answer 503',
        },
        { number: 2, status_code: 503 },
        { number: 3, status_code: 200, error: null, trigger: 'automatic' },
      ],
    });
    expect(arrived.attempts).toHaveLength(1);
    expect(texts()).toEqual(['arrives', 'waits', 'waits', 'waits']);
  });

  it.each([
    ['event', 'events', { event: 'message.sent' }],
    ['source', 'events', { source: 'zapier' }],
    ['address', 'webhook-test/events', {}],
  ])(
    'is not revived by a subscription with another %s; one that fits gets everything afterwards',
    async (_what, path, difference) => {
      await start();
      const first = await subscribe();
      await remove(first);
      await write('for the receiver');
      const target_url = `${stage.receiver.url}/${path}`;
      const stranger = await subscribe({ ...difference, target_url });
      await loopHasTurned();
      expect(await deliveries(stranger)).toEqual([]);
      expect(stage.receiver.requests).toEqual([]);
      await remove(stranger, '?pending=cancel');
      await delivered(await subscribe(), 1);
      expect(texts()).toEqual(['for the receiver']);
    },
  );

  it('is revived by another spelling of its address, which it then has', async () => {
    await start();
    const { port } = stage.receiver;
    const first = await subscribe({ target_url: `https://LOCALHOST:${port}/x/../events` });
    await remove(first);
    await write('hello');
    const targetUrl = `https://localhost:${port}/events`;
    await delivered(await subscribe({ target_url: targetUrl }), 1);
    const [shown] = (await stage.service.api.get('/api/hooks')).body.data;
    expect(shown).toMatchObject({ id: first.id, target_url: targetUrl });
  });

  const removalsWaiting = async () =>
    (await readMetrics(stage.service.url)).value('conversation_service_queue_waiting_jobs', {
      queue: 'removals',
    });

  it('is gone after a minute: what waited is cancelled and never sent', async () => {
    await start();
    const first = await subscribe();
    await remove(first);
    await write('too late');
    stage.clock.advance(MINUTE_MS);
    await waitFor('its end', async () => (await removalsWaiting()) === 0);
    await write('owed to nobody');
    const second = await subscribe();
    expect(second.id).not.toBe(first.id);
    await loopHasTurned();
    expect(await deliveries(second)).toEqual([]);
    expect(stage.receiver.requests).toEqual([]);
    await write('fresh');
    await delivered(second, 1);
  });

  it('is revived after half a minute and a restart', async () => {
    await start();
    const first = await subscribe();
    await write('before');
    await delivered(first, 1);
    await remove(first);
    await write('just in time');
    stage.clock.advance(15 * SECOND_MS);
    await stage.service.restart();
    stage.clock.advance(15 * SECOND_MS);
    await loopHasTurned();
    await delivered(await subscribe(), 2);
    expect(texts()).toEqual(['before', 'just in time']);
  });

  it('is not revived when it was removed with pending=cancel, or by a 410', async () => {
    await start({ env: { DELIVERY_RETRY_DELAYS_MS: '60000,60000,60000' } });
    const first = await subscribe();
    stage.answer = status(503);
    await write('pending');
    await received(1);
    await remove(first, '?pending=cancel');
    await write('in between');
    stage.answer = status(410);
    const second = await subscribe();
    expect(await deliveries(second)).toEqual([]);
    await write('gone');
    await waitFor(
      'the removal',
      async () => (await stage.service.api.get('/api/hooks')).body.data.length === 0,
    );
    await write('after the 410');
    stage.answer = null;
    const third = await subscribe();
    await loopHasTurned();
    expect(await deliveries(third)).toEqual([]);
    expect(texts()).toEqual(['pending', 'gone']);
  });

  it('stays when an older revision is deleted late', async () => {
    await start();
    const first = await subscribe();
    await remove(first);
    const { id } = await subscribe();
    const deleteRevision = async (revision: number) =>
      (await stage.service.api.delete(`/api/hooks/${id}?revision=${revision}`)).body;
    expect(await deleteRevision(1)).toEqual({ id, deleted: false });
    await write('still subscribed');
    await received(1);
    expect(await deleteRevision(2)).toEqual({ id, deleted: true });
    expect((await stage.service.api.get('/api/hooks')).body.data).toEqual([]);
  });

  it('refuses an unknown value of pending', async () => {
    await start();
    const { id } = await subscribe();
    expect(await stage.service.api.delete(`/api/hooks/${id}?pending=drop`)).toMatchObject({
      status: 400,
      body: { error: { param: 'pending' } },
    });
  });
});
