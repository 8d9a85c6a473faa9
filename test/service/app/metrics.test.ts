import { createServer, request, type Server, type ServerResponse } from 'node:http';
import { networkInterfaces } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { parseMetrics, readMetrics } from '../../helpers/metrics.ts';
import { freePort } from '../../helpers/program.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { testDatabaseUrl } from '../../helpers/storage.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const ATTEMPTS = 'conversation_service_delivery_attempts_total';
const DELIVERIES = 'conversation_service_deliveries_total';
const TOKEN = 'a-token-for-metrics-0123456789';

describe('/metrics counts deliveries', () => {
  let service: TestService;
  let receiver: EventReceiver;
  /** What the receiver answers next; 200 once the list is empty. */
  let script: (number | 'reset' | 'hang')[];
  /** The answers that it holds back. */
  let held: ServerResponse[];

  beforeEach(async () => {
    [script, held] = [[], []];
    receiver = await startEventReceiver((_request, response, raw) => {
      const next = script.shift() ?? 200;
      if (next === 'reset') raw.socket.destroy();
      else if (next === 'hang') held.push(response);
      else response.writeHead(next).end('x');
    });
    service = await startTestService({ ca: receiver.ca, env: { DELIVERY_TIMEOUT_MS: '2000' } });
  });
  afterEach(async () => {
    await service?.stop();
    await receiver?.close();
  });
  const deliveryCount = async (outcome: string, event = 'message.received') =>
    (await readMetrics(service.url)).value(DELIVERIES, { outcome, event });

  it('by outcome and event, and attempts by status class and by what went wrong', async () => {
    const fresh = await readMetrics(service.url);
    expect([
      fresh.value(DELIVERIES, { outcome: 'delivered', event: 'message.received' }),
      fresh.value(ATTEMPTS, { status_class: '2xx', error: '' }),
    ]).toEqual([0, 0]);

    await receiver.subscribe(service, 'message.received');
    const customer = await chatCustomer(service.url);
    script = [500, 'reset', 'hang', 200];
    await customer.write('arrives at the fourth try');
    await waitFor('one delivered', async () => (await deliveryCount('delivered')) === 1);
    script = [400];
    await customer.write('is refused');
    await waitFor('one failed', async () => (await deliveryCount('failed')) === 1);

    const metrics = await readMetrics(service.url);
    const attempts = (status_class: string, error = '') =>
      metrics.value(ATTEMPTS, { status_class, error });
    expect({
      ok: attempts('2xx'),
      client: attempts('4xx'),
      server: attempts('5xx'),
      reset: attempts('none', 'network'),
      timeout: attempts('none', 'timeout'),
    }).toEqual({ ok: 1, client: 1, server: 1, reset: 1, timeout: 1 });
    const duration = 'conversation_service_delivery_attempt_duration_seconds';
    expect(metrics.value(`${duration}_count`, { status_class: 'none' })).toBe(2);
    expect(metrics.value(`${duration}_sum`, { status_class: 'none' })).toBeGreaterThan(1.9);
    // The wait includes the time-out and the three pauses. The refused delivery has none.
    expect(metrics.value('conversation_service_delivery_wait_seconds_count')).toBe(1);
    expect(metrics.value('conversation_service_delivery_wait_seconds_sum')).toBeGreaterThan(1.9);
  });

  it('again when they are redelivered by hand, but not their wait', async () => {
    const { id } = await receiver.subscribe(service, 'message.received');
    await (await chatCustomer(service.url)).write('hello');
    await waitFor('one delivered', async () => (await deliveryCount('delivered')) === 1);
    const [{ id: delivery }] = (await service.api.get(`/api/hooks/${id}/deliveries`)).body.data;
    script = [404];
    await service.api.post(`/api/hooks/${id}/deliveries/${delivery}/redeliver`);
    await waitFor('one failed', async () => (await deliveryCount('failed')) === 1);
    await service.api.post(`/api/hooks/${id}/deliveries/${delivery}/redeliver`);
    await waitFor('two delivered', async () => (await deliveryCount('delivered')) === 2);
    expect(
      (await readMetrics(service.url)).value('conversation_service_delivery_wait_seconds_count'),
    ).toBe(1);
  });

  it('that are cancelled, and shows how many jobs of the queue wait and how many are in flight', async () => {
    await service.restart({ DELIVERY_TIMEOUT_MS: '60000' });
    const { id } = await receiver.subscribe(service, 'message.received');
    const customer = await chatCustomer(service.url);
    script = Array<'hang'>(4).fill('hang');
    for (let n = 0; n < 6; n++) await customer.write(`message ${n}`);
    const queue = { queue: 'deliveries' };
    const oldestDueS = await waitFor('four under way and two waiting', async () => {
      const metrics = await readMetrics(service.url);
      const isCrowded =
        metrics.value('conversation_service_queue_jobs_in_flight', queue) === 4 &&
        metrics.value('conversation_service_queue_waiting_jobs', queue) === 2;
      return isCrowded && metrics.value('conversation_service_queue_oldest_due_age_seconds', queue);
    });
    expect(oldestDueS).toBeGreaterThan(0);
    expect(oldestDueS).toBeLessThan(30);
    await service.api.delete(`/api/hooks/${id}?pending=cancel`);
    for (const response of held) response.end();
    await waitFor(
      'the two others to be cancelled',
      async () => (await deliveryCount('cancelled')) === 2,
    );
    await waitFor('an empty queue', async () => {
      const metrics = await readMetrics(service.url);
      return metrics.value('conversation_service_queue_waiting_jobs', queue) === 0;
    });
  });

  it('and failing subscriptions, each until its next success', async () => {
    await receiver.subscribe(service, 'message.received');
    await receiver.subscribe(service, 'conversation.opened', '/opened');
    const customer = await chatCustomer(service.url);
    const subscriptionCount = async (status: string) =>
      (await readMetrics(service.url)).value('conversation_service_subscriptions', { status });
    await customer.write('this one arrives');
    await waitFor('one to arrive', async () => (await deliveryCount('delivered')) === 1);
    await waitFor(
      'the other to arrive',
      async () => (await deliveryCount('delivered', 'conversation.opened')) === 1,
    );
    script = [400, 400, 400, 400, 400];
    for (let n = 0; n < 5; n++) await customer.write(`refused ${n}`);
    await waitFor('one failing', async () => (await subscriptionCount('failing')) === 1);
    expect(await subscriptionCount('active')).toBe(1);
    await customer.write('arrives again');
    await waitFor('none failing', async () => (await subscriptionCount('failing')) === 0);
  });
});

describe('/metrics describes the service', () => {
  let service: TestService;
  beforeEach(async () => {
    service = await startTestService();
  });
  afterEach(() => service?.stop());

  it('in a format that parses, each metric described, with nothing about callers in it', async () => {
    const customer = await chatCustomer(service.url, {
      name: 'Maria',
      phone: '+54 9 11 5555-0134',
      email: 'maria@example.com',
    });
    const { conversation_id: id } = await customer.write('hello');
    await service.api.get(`/api/conversations/${id}`);
    await service.api.get('/api/conversations/conv_unknown?token=in-the-address');
    for (const path of [
      '/wp-login.php',
      '/pay/some-token',
      '/api/no-such-thing',
      '/tools/x/y/z',
      '/contacts/ctc_unknown',
      `/%00/${id}`,
    ])
      await fetch(service.url + path, { redirect: 'manual' });
    await fetch(`${service.url}/api/hooks`, { method: 'PROPFIND' });

    const response = await fetch(`${service.url}/metrics`);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const metrics = parseMetrics(await response.text());
    expect(new Set(metrics.names).size).toBe(metrics.names.length);
    for (const name of metrics.names)
      expect(metrics.text).toMatch(new RegExp(`^# HELP ${name} \\S.*$`, 'm'));
    expect(metrics.text).not.toContain('NaN');
    // What is measured may hold any digits.
    expect(metrics.text.replace(/ \S+$/gm, '')).not.toMatch(
      /[a-z]+_[0-9A-Z]{26}|cs_live_|wp-login|some-token|in-the-address|maria|5555|127\.0\.0\.1/i,
    );
    const requests = (method: string, route: string, status_class: string) =>
      metrics.value('conversation_service_http_request_duration_seconds_count', {
        method,
        route,
        status_class,
      });
    expect(requests('GET', '/api/conversations/:id', '2xx')).toBe(1);
    expect(requests('GET', '/api/conversations/:id', '4xx')).toBe(1);
    expect(requests('GET', '/contacts', '3xx')).toBe(1);
    expect(requests('GET', 'unknown', '4xx')).toBeGreaterThan(0);
    expect(requests('POST', '/api/chat/messages', '2xx')).toBe(1);
    expect(requests('other', '/api/other', '4xx')).toBe(1);
  });

  it('by its event loop, its memory, and the files and the faults of its store', async () => {
    await (await chatCustomer(service.url)).write('hello');
    // Each round blocks the event loop for 0.3 s. Another follows if the timer that measures had no
    // turn before the reading.
    await waitFor('the blocked event loop to be seen', async () => {
      const blockedFrom = performance.now();
      while (performance.now() - blockedFrom < 300);
      await new Promise((resolve) => setTimeout(resolve, 50));
      const metrics = await readMetrics(service.url);
      return metrics.value('nodejs_eventloop_lag_max_seconds')! > 0.2;
    });
    const metrics = await readMetrics(service.url);
    // A database's files are not ours to watch.
    const journalBytes = metrics.value('conversation_service_store_journal_bytes');
    if (testDatabaseUrl() === null) expect(journalBytes).toBeGreaterThan(100);
    else expect(journalBytes).toBe(0);
    expect(metrics.value('conversation_service_store_fault')).toBe(0);
    expect(metrics.value('conversation_service_delivery_loop_idle_seconds')).toBeLessThan(20);
    for (const name of [
      'process_resident_memory_bytes',
      'nodejs_heap_size_used_bytes',
      'process_cpu_seconds_total',
      'process_start_time_seconds',
    ])
      expect(metrics.value(name)).toBeGreaterThan(0);
    const startOf = async () =>
      (await readMetrics(service.url)).value('process_start_time_seconds');
    expect([await startOf(), await startOf()]).toEqual(Array(2).fill(await startOf()));
    expect(metrics.value('conversation_service_store_snapshot_bytes')).toBe(0);
  });
});

describe('who may read /metrics', () => {
  let service: TestService | undefined;
  let proxy: Server | undefined;
  afterEach(async () => {
    proxy?.close();
    await service?.stop();
    [service, proxy] = [undefined, undefined];
  });
  const status = async (headers: Record<string, string> = {}, url = service!.url) =>
    (await fetch(`${url}/metrics`, { headers })).status;
  /** Not by fetch, which sets Host by itself. */
  const statusWithHost = (host: string) =>
    new Promise<number>((resolve, reject) => {
      request(`${service!.url}/metrics`, { headers: { host } }, (response) =>
        resolve(response.resume().statusCode!),
      )
        .on('error', reject)
        .end();
    });

  it('without METRICS_TOKEN: who comes straight from this machine, and nobody else', async () => {
    service = await startTestService();
    const { port } = new URL(service.url);
    expect(await status()).toBe(200);
    expect(await status({}, `http://localhost:${port}`)).toBe(200);
    for (const name of [
      'X-Forwarded-For',
      'Forwarded',
      'X-Real-IP',
      'Via',
      'X-Forwarded-Proto',
      'X-Forwarded-Host',
    ])
      expect([name, await status({ [name]: '127.0.0.1' })]).toEqual([name, 401]);
    // DNS rebinding: a browser on this machine sends the domain of a page that now points here.
    expect(await statusWithHost('rebound.example.com')).toBe(401);
    expect(await statusWithHost(`[::1]:${port}`)).toBe(200);
    const refused = await (
      await fetch(`${service.url}/metrics`, { headers: { via: '1.1 x' } })
    ).json();
    expect(refused).toMatchObject({
      error: { code: 'unauthorized', message: expect.stringContaining('METRICS_TOKEN') },
    });
  });

  const outside = Object.values(networkInterfaces())
    .flat()
    .find((each) => each && !each.internal && each.family === 'IPv4')?.address;
  (outside === undefined ? it.skip : it)(
    'without METRICS_TOKEN: nobody who comes over the network',
    async () => {
      service = await startTestService({
        env: { HOST: '0.0.0.0', PORT: String(await freePort()) },
      });
      const { port } = new URL(service.url);
      expect(await status({}, `http://127.0.0.1:${port}`)).toBe(200);
      expect(await status({}, `http://${outside}:${port}`)).toBe(401);
    },
  );

  it('with METRICS_TOKEN: who carries it, also through a proxy', async () => {
    service = await startTestService({ env: { METRICS_TOKEN: TOKEN } });
    expect(await status()).toBe(401);
    for (const wrong of [`${TOKEN}x`, TOKEN.slice(0, -1), TOKEN.toUpperCase(), service.apiKey])
      expect(await status({ authorization: `Bearer ${wrong}` })).toBe(401);
    expect(await status({ authorization: `Bearer ${TOKEN}` })).toBe(200);
    const target = service.url;
    proxy = createServer((incoming, outgoing) => {
      request(
        `${target}${incoming.url}`,
        { headers: { ...incoming.headers, 'x-forwarded-for': '203.0.113.9' } },
        (answer) => answer.pipe(outgoing.writeHead(answer.statusCode!)),
      ).end();
    }).listen(0, '127.0.0.1');
    await waitFor('the proxy', () => proxy!.listening);
    const url = `http://127.0.0.1:${(proxy.address() as { port: number }).port}`;
    expect(await status({}, url)).toBe(401);
    expect(await status({ authorization: `Bearer ${TOKEN}` }, url)).toBe(200);
    expect((await fetch(`${service.url}/metrics`)).headers.get('www-authenticate')).toBe('Bearer');
  });
});
