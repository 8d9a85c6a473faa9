import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { chatCustomer, type ChatCustomer } from '../../helpers/apiClient.ts';
import {
  signatureFault,
  startEventReceiver,
  type EventReceiver,
} from '../../helpers/eventReceiver.ts';
import { removeSubscriptions } from '../../helpers/removeSubscriptions.ts';
import { startServiceProcess, type ServiceProcess } from '../../helpers/serviceProcess.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';

/** The most that can be under way, and so be repeated, when the process is killed. */
const MAX_UNDER_WAY = 32;

/**
 * The built service as a process that is killed; what it acknowledged is held against what the
 * receiver got and against its own record.
 */
describe('a service that is killed', () => {
  let tls: TlsFiles;
  let service: ServiceProcess;
  let customer: ChatCustomer;
  let receiver: EventReceiver;
  let answer: (response: ServerResponse) => void;

  beforeAll(async () => {
    tls = await writeTlsFiles(await sharedTestCa());
    service = await startServiceProcess({
      caFile: tls.caFile,
      env: { DELIVERY_RETRY_DELAYS_MS: '300,400,500' },
    });
    customer = await chatCustomer(service.url);
  });
  afterAll(async () => {
    await service?.close();
    await tls?.remove();
  });
  beforeEach(async () => {
    answer = (response) => void response.end('taken');
    receiver = await startEventReceiver((_request, response) => answer(response));
  });
  afterEach(async () => {
    await removeSubscriptions(service.api);
    await receiver?.close();
  });

  const subscribe = () => receiver.subscribe(service, 'message.received');
  /** At once, which every store takes. */
  const write = (count: number, what: string) =>
    Promise.all(Array.from({ length: count }, (_, n) => customer.write(`${what} ${n}`)));
  const ids = (from: number) =>
    receiver
      .payloads()
      .slice(from)
      .map(({ id }) => id as string);
  const deliveries = async (id: string, query = '') =>
    (await service.api.get(`/api/hooks/${id}/deliveries${query}`)).body.data;
  const recorded = (id: string) =>
    waitFor('the records', async () => (await deliveries(id, '?status=pending')).length === 0);

  it('between two attempts and in the middle of one keeps what is on record, and invents nothing', async () => {
    const { id } = await subscribe();
    const story = async () => (await deliveries(id))[0];
    const held: ServerResponse[] = [];
    answer = (response) => {
      response.writeHead(503, { 'content-type': 'text/plain' }).end('overloaded: come back');
      answer = (next) => void held.push(next);
    };
    await customer.write('hello');
    const first = await waitFor('the first attempt on record', async () => {
      const shown = await story();
      return shown?.attempts.length === 1 ? shown : null;
    });
    expect(first).toMatchObject({
      status: 'pending',
      attempts: [
        {
          number: 1,
          status_code: 503,
          duration_ms: expect.any(Number),
          error: 'The receiver answered 503.',
          response_excerpt: 'overloaded: come back',
          trigger: 'automatic',
        },
      ],
    });
    const waitMs = Date.parse(first.next_attempt_at) - Date.parse(first.attempts[0].at);
    expect(waitMs).toBeGreaterThan(200);

    await service.crashAndRestart(); // between two attempts
    expect((await story()).attempts).toEqual(first.attempts);
    await waitFor('the second attempt to be held', () => held.length > 0);
    const heldBefore = held.length;
    await service.crashAndRestart(); // in the middle of the second
    await waitFor('it to be made again', () => held.length > heldBefore);
    // A request that was never answered is not recorded as an attempt: its outcome is unknown.
    expect(await story()).toEqual(first);
    // Its trace is in the log.
    expect(await readFile(service.logFile, 'utf8')).toContain(
      'what was under way when a process ended may arrive a second time, with the same id',
    );

    answer = (response) => void response.end('taken');
    for (const response of held) response.end('taken');
    await recorded(id);
    const whole = await story();
    expect(whole).toEqual({
      ...first,
      status: 'delivered',
      next_attempt_at: null,
      attempts: [
        first.attempts[0],
        {
          number: 2,
          at: expect.any(String),
          status_code: 200,
          duration_ms: expect.any(Number),
          error: null,
          response_excerpt: 'taken',
          trigger: 'automatic',
        },
      ],
    });
    expect(new Set(ids(0))).toEqual(new Set([whole.event_id]));
  });

  it('in the middle of a revival, twice, loses nothing and repeats only what was under way', async () => {
    const first = await subscribe();
    // n8n has taken the address away already
    answer = (response) => void response.writeHead(404).end();
    await write(40, 'met a 404');
    await waitFor('the failures', () => receiver.requests.length === 40);
    await recorded(first.id);
    await service.api.delete(`/api/hooks/${first.id}`);
    answer = (response) => void response.end();
    await write(80, 'while removed');
    await service.crashAndRestart();
    expect(receiver.requests).toHaveLength(40);

    let taken = 0;
    answer = (response) => void ((taken += 1) <= 20 && response.end());
    const second = await subscribe();
    // The first are taken; then there are some under way, and others behind them.
    await waitFor('the first of them', () => receiver.requests.length > 60);
    answer = (response) => void response.end();
    await service.crashAndRestart();
    await waitFor('everything', () => new Set(ids(40)).size === 120);
    await recorded(second.id);
    expect(ids(40).length).toBeLessThanOrEqual(120 + MAX_UNDER_WAY);
    const faults = receiver.requests.slice(40).map((each) => signatureFault(each, second.secret));
    expect(faults.filter((fault) => fault !== null)).toEqual([]);
  });

  it('in the middle of a redelivery sends it again under the same round, so that the receiver can tell', async () => {
    const { id } = await subscribe();
    await customer.write('hello');
    await waitFor('the request', () => receiver.requests.length === 1);
    await recorded(id);
    answer = () => {};
    await service.api.post(`/api/hooks/${id}/deliveries/${ids(0)[0]}/redeliver`);
    await waitFor('the redelivery', () => receiver.requests.length === 2);
    await service.crashAndRestart();
    await waitFor('it to come again', () => receiver.requests.length === 3);
    const [, cutOff, again] = receiver.requests.map(({ headers }) => [
      headers['x-service-delivery'],
      headers['x-service-redelivery'],
      headers['x-service-redelivery-round'],
    ]);
    expect([cutOff, again]).toEqual([
      [ids(0)[0], 'manual', '1'],
      [ids(0)[0], 'manual', '1'],
    ]);
  });
});
