// The limit of 25, the same address twice, and events while a subscription is removed and revived.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { removeSubscriptions } from '../../helpers/removeSubscriptions.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { OWNER } from '../agent/webhook/workflowStage.ts';
import { atOnce, rounds, sides, upTo } from './sides.ts';

const MAX_SUBSCRIPTIONS = 25;
const LEAST_REVIVALS = 6;

describe('subscriptions that are made and removed at the same time', () => {
  let receiver: EventReceiver;
  beforeAll(async () => {
    receiver = await startEventReceiver();
  });
  const service = sides({ ca: () => receiver.ca });
  afterEach(() => removeSubscriptions(service.api));
  afterAll(() => receiver?.close());

  const subscribe = (event: string, path: string) =>
    service.api.post('/api/hooks', { event, target_url: `${receiver.url}${path}`, source: 'race' });
  const all = async (): Promise<{ id: string }[]> =>
    (await service.api.get('/api/hooks?limit=200')).body.data;

  it('are never more than 25, and exactly 25 when more are asked for', async () => {
    for (const n of upTo(MAX_SUBSCRIPTIONS - 2))
      expect((await subscribe('message.sent', `/kept/${n}`)).status).toBe(201);
    for (const round of rounds(20)) {
      const answers = await atOnce(6, (n) => subscribe('message.sent', `/${round}/${n}`));
      const outcomes = answers.map(({ status, body }) => body.error?.code ?? status);
      expect(outcomes.sort()).toEqual([201, 201, ...Array(4).fill('subscription_limit_reached')]);
      expect(await all()).toHaveLength(MAX_SUBSCRIPTIONS);
      for (const { body } of answers.filter(({ status }) => status === 201))
        await service.api.delete(`/api/hooks/${body.id}?pending=cancel`);
    }
  });

  it('are refused for an event and address that another one has', async () => {
    for (const round of rounds(20)) {
      const answers = await atOnce(4, () => subscribe('message.sent', `/same/${round}`));
      const [made, ...refused] = answers.sort((a, b) => a.status - b.status);
      expect(made!.status).toBe(201);
      for (const { status, body } of refused)
        expect([status, body.error.code, body.error.existing_id]).toEqual([
          409,
          'subscription_exists',
          made!.body.id,
        ]);
    }
  });

  it('take a new address only once when several are changed to it', async () => {
    const made = [];
    for (const n of [1, 2, 3, 4])
      made.push((await subscribe('message.sent', `/changed/${n}`)).body.id as string);
    for (const round of rounds(10)) {
      const target_url = `https://127.0.0.1:9/all/${round}`;
      const answers = await Promise.all(
        made.map((id) => service.api.patch(`/api/hooks/${id}`, { target_url })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    }
  });

  it('are taken over by one publisher at a time when two publish at once, and belong to the last', async () => {
    const publish = (instance_id: string) =>
      service.api.post('/api/hooks', {
        event: 'message.sent',
        target_url: 'https://127.0.0.1:9/taken',
        owner: { ...OWNER, instance_id },
        take_over: true,
      });
    const { id } = (await publish('a')).body;
    for (const round of rounds(10)) {
      const answers = await Promise.all(['b', 'c'].map((each) => publish(`${each}${round}`)));
      expect(answers.map(({ status, body }) => [status, body.id])).toEqual([
        [201, id],
        [201, id],
      ]);
      const last = answers.map(({ body }) => body).sort((a, b) => b.revision - a.revision)[0]!;
      const [shown] = (await service.api.get('/api/hooks')).body.data;
      expect([shown.owner, shown.revision]).toEqual([last.owner, last.revision]);
    }
  });

  it('are removed once when three requests remove the same one', async () => {
    for (const round of rounds(20)) {
      const { id } = (await subscribe('message.sent', `/removed/${round}`)).body;
      const answers = await atOnce(3, () => service.api.delete(`/api/hooks/${id}`));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
    }
  });

  it('are owed each event exactly once while they are removed and revived all the time', async () => {
    const event = 'message.received';
    const path = '/moving';
    let { id } = (await subscribe(event, path)).body;
    let isOver = false;
    let revivals = 0;
    const reviving = (async () => {
      for (; !isOver; revivals += 1) {
        expect((await service.api.delete(`/api/hooks/${id}`)).status).toBe(200);
        const made = await subscribe(event, path);
        expect(made.status).toBe(201);
        id = made.body.id;
      }
    })();
    const customers = await atOnce(8, () => chatCustomer(service.url));
    const ids = (
      await Promise.all(
        customers.map(async (customer, c) => {
          const written = [];
          // 10 messages, and up to 25 until the subscription has been revived often enough.
          for (let n = 0; n < 10 || (revivals < LEAST_REVIVALS && n < 25); n += 1)
            written.push((await customer.write(`${c} ${n}`)).message_id);
          return written;
        }),
      )
    ).flat();
    isOver = true;
    await reviving;
    expect(revivals).toBeGreaterThanOrEqual(LEAST_REVIVALS);
    const list = async (query: string) =>
      (await service.api.get(`/api/hooks/${id}/deliveries?limit=200${query}`)).body.data;
    await waitFor(
      'every delivery to be made',
      async () =>
        (await list('&status=pending')).length === 0 &&
        (await list('&status=delivered')).length === ids.length,
    );
    expect(await list('&status=failed')).toEqual([]);
    expect(await list('&status=cancelled')).toEqual([]);
    const got = receiver.payloads(event).map(({ message }) => message.id as string);
    expect(got.toSorted()).toEqual(ids.toSorted());
  });
});
