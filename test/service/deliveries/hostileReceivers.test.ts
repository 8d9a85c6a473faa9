// Each hostile receiver as a subscription of a whole service: what the delivery's record says, and
// what is left open.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { readMetrics } from '../../helpers/metrics.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import type { TlsReceiver } from '../../helpers/tls.ts';
import type { TrackedServer } from '../../helpers/trackedServer.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  HOSTILE_RECEIVERS,
  HOSTILE_TIMEOUT_MS,
  type HostileReceiver,
} from '../platform/outbound/hostileReceivers.ts';

interface Attempt {
  readonly status_code: number | null;
  readonly error: string | null;
  readonly response_excerpt: string | null;
}

const half = Math.ceil(HOSTILE_RECEIVERS.length / 2); // a workspace has at most 25 subscriptions

describe.each([
  ['one half', HOSTILE_RECEIVERS.slice(0, half)],
  ['the other half', HOSTILE_RECEIVERS.slice(half)],
])('deliveries to hostile receivers, %s', (_which, hostile) => {
  let good: EventReceiver;
  let service: TestService;
  let isStopped = false;
  const servers = new Map<HostileReceiver, TrackedServer>();
  const subscriptions = new Map<HostileReceiver, string>();

  beforeAll(async () => {
    good = await startEventReceiver();
    service = await startTestService({
      ca: good.ca,
      env: { DELIVERY_TIMEOUT_MS: String(HOSTILE_TIMEOUT_MS), DELIVERY_RETRY_DELAYS_MS: '0,0,0' },
    });
    for (const each of hostile) {
      const server = await each.start();
      servers.set(each, server);
      const { body } = await service.api.post('/api/hooks', {
        event: 'message.received',
        target_url: `https://localhost:${server.port}/events`,
        source: 'test',
      });
      subscriptions.set(each, body.id);
    }
    await good.subscribe(service, 'message.received');
    await (await chatCustomer(service.url)).write('Hello to all');
  });
  afterAll(async () => {
    if (!isStopped) await service?.stop();
    await good?.close();
    for (const server of servers.values()) await server.close();
  });

  it('a well-behaved receiver gets its event all the same', async () => {
    expect((await good.payload('message.received')).message.text).toBe('Hello to all');
    expect(good.faults).toEqual([]);
  });

  it.each(hostile)('one that $name', async (each) => {
    const server = servers.get(each)!;
    const host = `localhost:${server.port}`;
    const delivery = await waitFor('the delivery to end', async () => {
      const { body } = await service.api.get(`/api/hooks/${subscriptions.get(each)}/deliveries`);
      return body.data[0]?.status === 'pending' ? null : body.data[0];
    });
    const attempts = delivery.attempts as Attempt[];
    expect({ status: delivery.status, attempts: attempts.length }).toEqual({
      status: each.outcome,
      attempts: each.outcome === 'delivered' ? 1 : 4,
    });
    for (const { status_code, error, response_excerpt } of attempts) {
      expect({ status_code, error }).toEqual({
        status_code: each.status,
        error: each.error?.replaceAll('%', host) ?? null,
      });
      expect((response_excerpt ?? '').length).toBeLessThanOrEqual(4096);
      expect(response_excerpt ?? '').not.toContain('\0');
    }
    // A receiver that cannot prove who it is gets no request.
    if (each.name.includes('certificate')) expect((server as TlsReceiver).requests).toEqual([]);
  });

  it('with a handshake that fails are counted apart from those that do not answer', async () => {
    const failingHandshake = hostile.filter(({ name }) =>
      /certificate|handshake|speaks (HTTP\/2|TLS|plain)/.test(name),
    );
    await waitFor('their attempts', async () => {
      const counted = (await readMetrics(service.url)).value(
        'conversation_service_delivery_attempts_total',
        { status_class: 'none', error: 'tls' },
      );
      return (counted ?? 0) === 4 * failingHandshake.length;
    });
  });

  it('leaves no connection open on either side once the service has stopped', async () => {
    await service.stop();
    isStopped = true;
    await waitFor('every socket to be closed', () =>
      [good, ...servers.values()].every(({ openSockets }) => openSockets === 0),
    );
  });
});
