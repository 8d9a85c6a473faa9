import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { chatCustomer, type ChatCustomer } from '../../helpers/apiClient.ts';
import {
  signatureFault,
  startEventReceiver,
  type EventReceiver,
} from '../../helpers/eventReceiver.ts';
import {
  startTestService,
  type TestService,
  type TestServiceOptions,
} from '../../helpers/service.ts';
import { readMetrics } from '../../helpers/metrics.ts';
import type { ReceiverHandler } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';

/** What the receiver does with the next requests, one entry each; it answers 200 to all others. */
type Script = (number | 'reset' | 'hang')[];

describe('deliveries', () => {
  let service: TestService;
  let receiver: EventReceiver;
  let customer: ChatCustomer;
  let script: Script;

  const play: ReceiverHandler = (_request, response, raw) => {
    const next = script.shift() ?? 200;
    if (next === 'reset') raw.socket.destroy();
    else if (next !== 'hang')
      response
        .writeHead(next, next === 302 ? { location: '/elsewhere' } : {})
        .end(`answer ${next}`);
  };

  /** Starts a service that sends the receiver a customer's messages. @returns the subscription */
  const start = async (options: TestServiceOptions = {}) => {
    service = await startTestService({ ca: receiver.ca, ...options });
    customer = await chatCustomer(service.url);
    return receiver.subscribe(service, 'message.received');
  };
  const deliveries = async (id: string, query = '') =>
    (await service.api.get(`/api/hooks/${id}/deliveries${query}`)).body.data;
  const finished = (id: string) =>
    waitFor('the newest delivery to finish', async () => {
      const [newest] = await deliveries(id);
      return newest && newest.status !== 'pending' ? newest : null;
    });
  const attempted = (id: string) =>
    waitFor('the first attempt of the newest delivery', async () => {
      const [newest] = await deliveries(id);
      return newest?.attempts.length === 1 && newest;
    });
  const redeliver = (id: string, delivery: string) =>
    service.api.post(`/api/hooks/${id}/deliveries/${delivery}/redeliver`);
  const subscription = async (id: string) =>
    (await service.api.get('/api/hooks')).body.data.find((each: { id: string }) => each.id === id);

  beforeEach(async () => {
    script = [];
    receiver = await startEventReceiver(play);
  });
  afterEach(async () => {
    await service?.stop();
    await receiver?.close();
  });

  it('keeps the newest attempts of a delivery that is redelivered again and again, and gives each round its own retries', async () => {
    const { id } = await start();
    await customer.write('hello');
    const { id: deliveryId } = await finished(id);
    for (let round = 0; round < 24; round += 1) {
      await redeliver(id, deliveryId);
      await finished(id);
    }
    script.push(500, 500, 500, 500);
    await redeliver(id, deliveryId);
    const { attempts } = await finished(id);
    expect(attempts).toMatchObject(Array.from({ length: 20 }, (_, n) => ({ number: n + 10 })));
    const codes = [200, 500, 500, 500, 500];
    expect(attempts.slice(-5)).toMatchObject(codes.map((status_code) => ({ status_code })));
  });

  it('sends the event once, signed and in its documented form, and records it', async () => {
    const { id, secret } = await start();
    await customer.write('hello');
    const delivery = await finished(id);
    expect(delivery).toEqual({
      id: expect.stringMatching(/^dlv_/),
      event_id: receiver.payloads()[0].id,
      event: 'message.received',
      status: 'delivered',
      attempts: [
        {
          number: 1,
          at: expect.stringMatching(/\+00:00$/),
          status_code: 200,
          duration_ms: expect.any(Number),
          error: null,
          response_excerpt: 'answer 200',
          trigger: 'automatic',
        },
      ],
      next_attempt_at: null,
      created_at: expect.stringMatching(/\+00:00$/),
    });
    expect(receiver.requests).toHaveLength(1);
    expect(receiver.faults).toEqual([]);
    const [request] = receiver.requests;
    expect(request!.method).toBe('POST');
    expect(signatureFault(request!, `${secret}x`)).not.toBeNull();
    expect(await subscription(id)).toMatchObject({
      status: 'active',
      consecutive_failures: 0,
      last_delivery_at: delivery.attempts[0].at,
    });
  });

  it("are verified by Stripe's SDK and by the standardwebhooks library with their defaults", async () => {
    const { id, secret } = await start();
    await customer.write('Grüße, 你好 🎉');
    await finished(id);
    const { headers, rawBody } = receiver.requests[0]!;
    const event = new Stripe('sk_test_unused').webhooks.constructEvent(
      rawBody,
      String(headers['x-service-signature']),
      secret,
    );
    expect(event.id).toBe(headers['x-service-delivery']);
    const verify = (body: string) =>
      new Webhook(secret).verify(body, headers as Record<string, string>);
    expect(verify(String(rawBody))).toMatchObject({ message: { text: 'Grüße, 你好 🎉' } });
    expect(headers['webhook-id']).toBe(event.id);
    expect(() => verify(`${String(rawBody)} `)).toThrow();
  });

  it.each([
    ['a 5xx', [500, 503, 599]],
    ['a connection that breaks', ['reset', 'reset', 'reset']],
    ['a time-out', ['hang', 'hang', 'hang']],
  ] as [string, Script][])(
    'retries %s three times with the same id and bytes, each attempt signed again',
    async (_what, answers) => {
      // enough for the attempt that is answered, also on a busy machine
      const { id } = await start({ env: { DELIVERY_TIMEOUT_MS: '1500' } });
      script = [...answers];
      await customer.write('hello');
      const delivery = await finished(id);
      expect(delivery.status).toBe('delivered');
      const error = expect.any(String);
      expect(delivery.attempts).toMatchObject([
        { number: 1, error },
        { number: 2, error },
        { number: 3, error },
        { number: 4 },
      ]);
      expect(receiver.requests).toHaveLength(4);
      const ids = receiver.requests.map(({ headers }) => headers['x-service-delivery']);
      const bodies = receiver.requests.map(({ rawBody }) => rawBody.toString());
      expect([new Set(ids).size, new Set(bodies).size]).toEqual([1, 1]);
      expect(receiver.faults).toEqual([]);
    },
  );

  it('gives up after the third retry', async () => {
    const { id } = await start();
    script = [500, 500, 500, 500];
    await customer.write('hello');
    expect(await finished(id)).toMatchObject({
      status: 'failed',
      next_attempt_at: null,
      attempts: [{}, {}, {}, { status_code: 500 }],
    });
    expect(await subscription(id)).toMatchObject({ status: 'active', consecutive_failures: 1 });
  });

  it.each([400, 401, 404, 429, 302, 304])('does not retry %i', async (status) => {
    const { id } = await start();
    script = [status];
    await customer.write('hello');
    expect(await finished(id)).toMatchObject({
      status: 'failed',
      attempts: [{ status_code: status, error: expect.stringContaining(String(status)) }],
    });
    expect(receiver.requests.map(({ path }) => path)).toEqual(['/events']);
  });

  it('removes the subscription after a 410 and cancels what is pending', async () => {
    let skewMs = 0;
    const { id } = await start({
      clock: { now: () => new Date(Date.now() + skewMs) },
      env: { DELIVERY_RETRY_DELAYS_MS: '60000,60000,60000' },
    });
    script = [500, 410];
    await customer.write('waits for its retry');
    await attempted(id);
    await customer.write('is answered 410');
    await waitFor('the removal', async () => !(await subscription(id)));
    expect((await service.api.get(`/api/hooks/${id}/deliveries`)).status).toBe(404);
    skewMs = 120_000;
    const cancelled = { outcome: 'cancelled', event: 'message.received' };
    await waitFor('the cancelled retry', async () => {
      const metrics = await readMetrics(service.url);
      return metrics.value('conversation_service_deliveries_total', cancelled) === 1;
    });
    expect(receiver.requests).toHaveLength(2);
  });

  it('flags a subscription after five failed deliveries in a row, keeps sending, and clears the flag with the next success', async () => {
    const { id } = await start();
    script = [400, 400, 400, 400, 400];
    for (let n = 1; n <= 5; n++) {
      await customer.write(`message ${n}`);
      await waitFor('the failure', async () => (await subscription(id)).consecutive_failures === n);
      expect((await subscription(id)).status).toBe(n < 5 ? 'active' : 'failing');
    }
    await customer.write('arrives');
    await waitFor('the success', async () => (await subscription(id)).status === 'active');
    expect(await subscription(id)).toMatchObject({ consecutive_failures: 0 });
  });

  it('come in pages, newest first, and by status', async () => {
    const { id } = await start();
    script = [400, 400, 200, 400];
    for (const text of ['first', 'second', 'arrives', 'third']) {
      await customer.write(text);
      await finished(id);
    }
    const page = async (query = '') =>
      (await service.api.get(`/api/hooks/${id}/deliveries?status=failed&limit=2${query}`)).body;
    const newest = await page();
    const oldest = await page(`&cursor=${newest.next_cursor}`);
    expect([newest.data.length, oldest.data.length, oldest.next_cursor]).toEqual([2, 1, null]);
    const failed = (await deliveries(id)).toSpliced(1, 1);
    expect([...newest.data, ...oldest.data]).toEqual(failed);
  });

  it('a waiting retry holds nothing else up', async () => {
    const { id } = await start({ env: { DELIVERY_RETRY_DELAYS_MS: '60000,100,100' } });
    script = [500];
    await customer.write('fails');
    await attempted(id);
    await customer.write('overtakes');
    expect(await finished(id)).toMatchObject({ status: 'delivered' });
    expect(await deliveries(id, '?status=pending')).toHaveLength(1);
  });

  it('keeps at most 4 KiB of an answer, and text that can be shown', async () => {
    await receiver.close();
    receiver = await startEventReceiver(
      (_request, response) => void response.writeHead(500).end(Buffer.alloc(200_000, 0xe9)),
    );
    const { id } = await start();
    await customer.write('hello');
    const delivery = await finished(id);
    for (const { response_excerpt: excerpt } of delivery.attempts)
      expect(excerpt).toBe('\ufffd'.repeat(4096));
  });

  it.each([
    [
      'gzip, that is damaged',
      'gzip',
      gzipSync('ok').fill(0xff, 10),
      '[The answer cannot be read: its data is damaged, or its Content-Encoding is unknown.]',
    ],
    ['gzip, that is plain text', 'gzip', Buffer.from('ok'), 'ok'],
    [
      'gzip, that is long plain text',
      'gzip',
      Buffer.from('é'.repeat(40_000)).subarray(0, -1),
      'é'.repeat(2048),
    ],
    ['identity, that is not UTF-8', 'identity', Buffer.from('é', 'latin1'), '\ufffd'],
  ])('records an answer encoded as %s in words', async (_what, encoding, body, expected) => {
    await receiver.close();
    receiver = await startEventReceiver(
      (_request, response) =>
        void response.writeHead(500, { 'content-encoding': encoding }).end(body),
    );
    const { id } = await start();
    await customer.write('hello');
    const { attempts } = await finished(id);
    for (const attempt of attempts) expect(attempt.response_excerpt).toBe(expected);
  });

  it('sends a test event: a sample of the event, signed as a real one', async () => {
    await start();
    const { id } = await receiver.subscribe(service, 'conversation.closed');
    const { body, status } = await service.api.post(`/api/hooks/${id}/test`);
    expect([status, body.status]).toEqual([201, 'pending']);
    const payload = await receiver.payload('conversation.closed');
    expect(payload).toMatchObject({ id: body.event_id, outcome: { verdict: 'goal_reached' } });
    expect(receiver.faults).toEqual([]);
  });

  describe('sending again', () => {
    it('redelivers by dlv_ or evt_ id, marked manual, with the same event id', async () => {
      const { id } = await start();
      script = [400];
      await customer.write('hello');
      const failed = await finished(id);
      const first = await redeliver(id, failed.id);
      expect(first).toMatchObject({ status: 200, body: { id: failed.id, status: 'pending' } });
      expect(await finished(id)).toMatchObject({
        status: 'delivered',
        attempts: [{ trigger: 'automatic' }, { trigger: 'manual', number: 2 }],
      });
      await redeliver(id, failed.event_id);
      await waitFor('the third request', () => receiver.requests.length === 3);
      expect(receiver.requests.map(({ headers }) => headers['x-service-redelivery'])).toEqual([
        undefined,
        'manual',
        'manual',
      ]);
      const [sent, again] = receiver.requests.map(({ headers }) =>
        Number(headers['webhook-timestamp']),
      );
      // so that a receiver can tell a redelivery from a captured request that someone replays
      expect(again).toBeGreaterThan(sent!);
      expect(new Set(receiver.payloads().map((payload) => payload.id))).toEqual(
        new Set([failed.event_id]),
      );
    });

    it('retries a redelivery like any delivery; if it fails, an earlier success still counts', async () => {
      const { id } = await start();
      await customer.write('hello');
      const { id: deliveryId } = await finished(id);
      script = [500, 500, 500, 500];
      await redeliver(id, deliveryId);
      const again = await finished(id);
      expect(again.attempts).toHaveLength(5);
      expect(again.status).toBe('delivered');
      await redeliver(id, deliveryId);
      await waitFor('the sixth request', () => receiver.requests.length === 6);
      // A redelivery and its retries share one number, so that a receiver can tell them from the
      // next redelivery.
      expect(receiver.requests.map(({ headers }) => headers['x-service-redelivery-round'])).toEqual(
        [undefined, '1', '1', '1', '1', '5'],
      );
    });

    it('refuses while pending (409), for another subscription and for unknown ids (404)', async () => {
      const { id } = await start({ env: { DELIVERY_RETRY_DELAYS_MS: '60000,1,1' } });
      const other = await receiver.subscribe(service, 'message.sent');
      script = [500];
      await customer.write('hello');
      const pending = await attempted(id);
      expect(await redeliver(id, pending.id)).toMatchObject({
        status: 409,
        body: { error: { code: 'delivery_pending' } },
      });
      expect((await redeliver(other.id, pending.id)).status).toBe(404);
      expect((await redeliver(id, 'dlv_nothing')).status).toBe(404);
      expect((await redeliver(id, 'evt_nothing')).status).toBe(404);
    });

    it('recovers every delivery that failed since a time and never succeeded, and says how many', async () => {
      const { id } = await start();
      script = [400];
      await customer.write('before');
      await finished(id);
      const since = new Date(Date.now() + 5);
      await waitFor('the time to pass', () => Date.now() > since.getTime());
      script = [200, 400, 400];
      for (const text of ['arrives', 'fails', 'fails too']) {
        await customer.write(text);
        await finished(id);
      }
      const recover = async () =>
        (await service.api.post(`/api/hooks/${id}/recover`, { since: since.toISOString() })).body;
      expect(await recover()).toEqual({ redelivered: 2 });
      await waitFor('both', async () => (await deliveries(id, '?status=delivered')).length === 3);
      const again = receiver.payloads().slice(4);
      expect(again.map(({ message }) => message.text).sort()).toEqual(['fails', 'fails too']);
      expect(await recover()).toEqual({ redelivered: 0 });
      expect(await deliveries(id, '?status=failed')).toHaveLength(1);
    });

    it('recovers each failed event once when asked five times at once, and leaves alone what waits for its retry', async () => {
      const { id } = await start({ env: { DELIVERY_RETRY_DELAYS_MS: '600000,1,1' } });
      const since = new Date(Date.now() - 60_000).toISOString();
      for (let n = 0; n < 8; n++) {
        script = [n % 4 === 0 ? 503 : 400];
        await customer.write(`message ${n}`);
        await attempted(id);
      }
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => service.api.post(`/api/hooks/${id}/recover`, { since })),
      );
      expect(answers.reduce((sum, { body }) => sum + (body.redelivered as number), 0)).toBe(6);
      await waitFor(
        'those that had failed',
        async () => (await deliveries(id, '?status=delivered')).length === 6,
      );
      expect(await deliveries(id, '?status=pending')).toHaveLength(2);
      const byId = Map.groupBy(receiver.payloads(), (payload) => payload.id as string);
      const times = [...byId.values()].map(({ length }) => length);
      expect(times.sort()).toEqual([1, 1, 2, 2, 2, 2, 2, 2]);
      // No header says “redelivery”: a receiver that took the event after all may drop the repeat.
      for (const { headers } of receiver.requests)
        expect(headers['x-service-redelivery']).toBeUndefined();
      for (const { attempts } of await deliveries(id, '?status=delivered'))
        expect(attempts[1].trigger).toBe('manual');
    });

    it('answers a second recover with the same Idempotency-Key as it answered the first, and sends nothing again', async () => {
      const { id } = await start();
      const since = new Date(Date.now() - 60_000).toISOString();
      script = [400, 400, 400];
      await customer.write('fails');
      await finished(id);
      const recover = (body = { since }, hook = id) =>
        service.api.post(`/api/hooks/${hook}/recover`, body, { 'idempotency-key': hook });
      expect((await recover()).body).toEqual({ redelivered: 1 });
      await waitFor('it to fail again', () => receiver.requests.length === 2);
      await finished(id);
      expect((await recover()).body).toEqual({ redelivered: 1 });
      expect((await recover({ since: new Date().toISOString() })).status).toBe(409);
      expect(await finished(id)).toMatchObject({ status: 'failed', attempts: [{}, {}] });
      expect((await recover({ since }, 'sub_nothing')).status).toBe(404);
    });

    it('refuses a recover without a time', async () => {
      const { id } = await start();
      for (const body of [{}, { since: 'yesterday' }, { since: 5 }]) {
        expect(await service.api.post(`/api/hooks/${id}/recover`, body)).toMatchObject({
          status: 400,
          body: { error: { param: 'since' } },
        });
      }
    });
  });
});
