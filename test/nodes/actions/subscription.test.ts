import { describe, expect, it } from '@jest/globals';
import { waitFor } from '../../helpers/waitFor.ts';
import { hookById, RETRY_ON_FAIL, useService, type Rest } from '../helpers/actions.ts';
import { failureOf } from '../helpers/n8n.ts';
import { startHttpServer } from '../helpers/strangers.ts';

const { resource, service, wire, open } = useService({ INSECURE_TARGETS: 'true' });
const subscription = resource('subscription');
/** Runs an operation on a subscription. @returns its output */
const on = async (id: string, operation: string, parameters = {}, rest: Rest = {}) =>
  (await subscription(operation, { parameters: { ...hookById(id), ...parameters }, ...rest }))
    .items;

describe('Subscription', () => {
  const subscribe = async (event = 'message.received', url = 'http://127.0.0.1:9/hook') =>
    (
      await service().api.post('/api/hooks', {
        event,
        target_url: `${url}/${Math.random()}`,
        source: 'test',
      })
    ).body.id as string;

  it('lists and deletes', async () => {
    const id = await subscribe();
    const list = async () =>
      (await subscription('getAll', { parameters: { returnAll: true, simplify: false } })).items;
    expect(await list()).toContainEqual(expect.objectContaining({ id, source: 'test' }));
    expect((await list()).every((each) => !('secret' in each))).toBe(true);
    expect(await on(id, 'delete')).toEqual([{ id, deleted: true }]);
    expect(await list()).not.toContainEqual(expect.objectContaining({ id }));
  });

  it('sends a test event, shows its delivery, sends it again by either id, and recovers what failed', async () => {
    let status = 200;
    const received: string[] = [];
    const target = await startHttpServer((req, res) => {
      received.push(String(req.headers['x-service-redelivery'] ?? 'automatic'));
      res.writeHead(status).end();
    });
    const id = await subscribe('conversation.opened', target.url);
    try {
      const [sent] = await on(id, 'sendTestEvent');
      const deliveries = () => on(id, 'getDeliveries', { limit: 10 });
      const until = (wanted: string) =>
        waitFor(wanted, async () => (await deliveries()).every((each) => each.status === wanted));
      await until('delivered');
      expect(await deliveries()).toMatchObject([{ id: sent!.id, event_id: sent!.event_id }]);

      for (const deliveryId of [sent!.id, sent!.event_id]) {
        const [again] = await on(id, 'redeliver', { deliveryId });
        expect(again).toMatchObject({ id: sent!.id });
        await until('delivered');
      }
      expect(received).toEqual(['automatic', 'manual', 'manual']);

      let lost = 0;
      wire().loses = (_method, path) => path.endsWith('/redeliver') && ++lost === 1;
      await on(
        id,
        'redeliver',
        { deliveryId: sent!.id },
        { node: RETRY_ON_FAIL, executionId: '2' },
      );
      await until('delivered');
      expect(lost).toBe(2);
      expect(received).toEqual(['automatic', 'manual', 'manual', 'manual']);

      status = 404;
      await open();
      await waitFor('a failed delivery', async () =>
        (await deliveries()).some((each) => each.status === 'failed'),
      );
      status = 200;
      const since = new Date(Date.now() - 60_000).toISOString();
      expect(await on(id, 'recover', { since })).toEqual([{ redelivered: 1 }]);
      await until('delivered');
    } finally {
      await on(id, 'delete');
      await target.close();
    }
  });

  it('rotates the secret, outputs it only when asked to, says what to do, and ends the overlap', async () => {
    const id = await subscribe();
    const rotate = async (parameters = {}) => (await on(id, 'rotateSecret', parameters))[0];
    const quiet = await rotate();
    expect(quiet).toEqual({
      id,
      event: 'message.received',
      target_url: expect.any(String),
      source: 'test',
      events: ['message.received'],
      filter: null,
      owner: null,
      paused: false,
      catch_up: false,
      status: 'active',
      consecutive_failures: 0,
      last_delivery_at: null,
      created_at: expect.any(String),
      revision: 1,
      previous_secret_expires_at: expect.any(String),
      notice: expect.stringContaining('unpublish and publish it again'),
    });
    expect(JSON.stringify(quiet)).not.toContain('whsec_');
    expect(Date.parse(String(quiet!.previous_secret_expires_at)) - Date.now()).toBeGreaterThan(
      23 * 3_600_000,
    );
    expect(await rotate({ returnSecret: true })).toMatchObject({
      id,
      secret: expect.stringMatching(/^whsec_/),
    });
    expect(await on(id, 'revokePreviousSecrets')).toMatchObject([{ id, revoked: 2 }]);
    expect(await on(id, 'revokePreviousSecrets')).toMatchObject([{ id, revoked: 0 }]);
    for (let n = 0; n < 4; n++) await rotate();
    const refused = await failureOf(rotate());
    expect(refused.message).toContain('5 secrets of this subscription already sign');
    expect(refused.description).toContain('Revoke Previous Secrets');
    await on(id, 'delete');
  });

  it('gets every event, and a sample with the field names of a real one', async () => {
    const { items } = await subscription('getEvents');
    expect(items.map(({ name }) => name)).toContain('message.received');
    expect(items.length).toBeGreaterThanOrEqual(6);
    const parameters = { event: 'conversation.closed' };
    const sample = await subscription('getSample', { parameters });
    expect(sample.items[0]).toMatchObject({
      event: 'conversation.closed',
      outcome: { verdict: expect.any(String) },
    });
  });

  it('refuses what is not a date and time, and says what to enter', async () => {
    expect(await failureOf(on('sub_1', 'recover', { since: 'yesterday' }))).toMatchObject({
      message: '"yesterday" is not a date and time',
      description: expect.stringContaining('$now'),
    });
  });
});
