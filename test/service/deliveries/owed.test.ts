import { describe, expect, it } from '@jest/globals';
import { waitFor } from '../../helpers/waitFor.ts';
import { MINUTE_MS, deliveryStage, status, type Made } from './deliveryStage.ts';
import { deliveriesOf, settledDeliveries } from './settledDeliveries.ts';

describe('what a subscription is owed', () => {
  const stage = deliveryStage();
  const { start, subscribe, remove, write, texts, received, delivered } = stage;
  const RETRIES = { env: { DELIVERY_RETRY_DELAYS_MS: '60000,60000,60000' } };

  const patch = ({ id }: Made, changes: object) =>
    stage.service.api.patch(`/api/hooks/${id}`, changes);
  const statuses = async ({ id }: Made) =>
    (await deliveriesOf(stage.service, id)).map((each) => each.status).toReversed();
  const waitForStatuses = (made: Made, wanted: readonly string[]) =>
    waitFor(wanted.join(), async () => (await statuses(made)).join() === wanted.join());

  it('is nothing new while it is paused, and what was pending waits; a test event is sent', async () => {
    await start(RETRIES);
    const made = await subscribe();
    stage.answer = status(503);
    await write('waits for a retry');
    await received(1);
    expect((await patch(made, { paused: true })).body).toMatchObject({ paused: true });
    stage.answer = null;
    await write('in the pause');
    stage.clock.advance(2 * MINUTE_MS);
    await stage.service.api.post(`/api/hooks/${made.id}/test`);
    await waitForStatuses(made, ['pending', 'delivered']);
    stage.clock.advance(2 * MINUTE_MS);
    await stage.service.api.post(`/api/hooks/${made.id}/test`);
    await waitForStatuses(made, ['pending', 'delivered', 'delivered']);
    await patch(made, { paused: false });
    stage.clock.advance(2 * MINUTE_MS);
    await waitForStatuses(made, ['delivered', 'delivered', 'delivered']);
    expect(texts().at(-1)).toBe('waits for a retry');
    await write('after the pause');
    await delivered(made, 4);
    expect(texts().filter((text) => text === 'in the pause')).toEqual([]);
    expect(texts().at(-1)).toBe('after the pause');
  });

  it('is what its new events and filter ask for, once they have changed', async () => {
    await start(RETRIES);
    const made = await subscribe({ events: ['message.received', 'conversation.opened'] });
    stage.answer = status(503);
    await write('first');
    await received(2);
    await patch(made, { events: ['conversation.opened'] });
    stage.answer = null;
    stage.clock.advance(2 * MINUTE_MS);
    const both = await settledDeliveries(stage.service, made.id);
    const byEvent = Object.fromEntries(both.map((each) => [each.event, each.status]));
    expect(byEvent).toEqual({
      'message.received': 'cancelled',
      'conversation.opened': 'delivered',
    });
  });

  it('is what the new version asks for, when it is revived', async () => {
    await start();
    const first = await subscribe({ events: ['message.received', 'conversation.opened'] });
    await write('before');
    await delivered(first, 2);
    await remove(first);
    await write('in between');
    const second = await subscribe({
      events: ['message.sent', 'message.received'],
      filter: { statuses: ['closed'] },
    });
    expect(second).toMatchObject({
      id: first.id,
      events: ['message.sent', 'message.received'],
      filter: { statuses: ['closed'] },
    });
    await waitForStatuses(second, ['delivered', 'delivered', 'cancelled']);
    await remove(second);
    await write('for a third');
    const third = await subscribe({ event: 'message.received' });
    expect(third).toMatchObject({ id: first.id, filter: null, events: ['message.received'] });
    // A removed subscription is owed what it asked for: its filter left the message out.
    await waitForStatuses(third, ['delivered', 'delivered', 'cancelled']);
  });

  it('comes from the removed subscription that shares the most events with it; one that shares none is not revived', async () => {
    await start();
    const one = await subscribe({ event: 'message.received' });
    const two = await subscribe({ events: ['message.sent', 'conversation.closed'] });
    await remove(one);
    await remove(two);
    const other = await subscribe({ event: 'conversation.opened' });
    expect([one.id, two.id]).not.toContain(other.id);
    const both = await subscribe({
      events: ['message.received', 'message.sent', 'conversation.closed'],
    });
    expect(both.id).toBe(two.id);
  });
});
