import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { startServiceProcess, type ServiceProcess } from '../../helpers/serviceProcess.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- looked at field by field
type Json = any;

describe("a delivery's story", () => {
  let files: TlsFiles;
  let receiver: EventReceiver;
  let service: ServiceProcess;
  /** Answers the nth request (from 1) of the receiver; those it leaves alone are held. */
  let answer: (nth: number, response: ServerResponse) => void = () => {};
  beforeAll(async () => {
    files = await writeTlsFiles(await sharedTestCa());
    receiver = await startEventReceiver((_request, response) =>
      answer(receiver.requests.length, response),
    );
    service = await startServiceProcess({
      caFile: files.caFile,
      env: { DELIVERY_RETRY_DELAYS_MS: '300,400,500' },
    });
  });
  afterAll(async () => {
    await service?.close();
    await receiver?.close();
    await files?.remove();
  });
  const storyOf = async (id: string): Promise<Json> =>
    (await service.api.get(`/api/hooks/${id}/deliveries`)).body.data[0];

  it('is whole after kill -9 between two attempts and in the middle of one: what is on record stays, nothing is invented', async () => {
    const { id } = await receiver.subscribe(service, 'message.received');
    answer = (nth, response) => {
      if (nth === 1)
        response.writeHead(503, { 'content-type': 'text/plain' }).end('overloaded: come back');
      else if (nth > 3) response.writeHead(200).end('taken');
    };
    await (await chatCustomer(service.url)).write('hello');
    const first = await waitFor('the first attempt on record', async () => {
      const story = await storyOf(id);
      return story?.attempts.length === 1 ? story : null;
    });
    expect(first).toMatchObject({
      status: 'pending',
      attempts: [
        {
          number: 1,
          status_code: 503,
          error: 'The receiver answered 503.',
          response_excerpt: 'overloaded: come back',
          trigger: 'automatic',
        },
      ],
    });
    expect(first.attempts[0].duration_ms).toBeGreaterThanOrEqual(0);
    const waitMs = Date.parse(first.next_attempt_at) - Date.parse(first.attempts[0].at);
    expect(waitMs).toBeGreaterThan(200);

    await service.crashAndRestart(); // between two attempts
    expect((await storyOf(id)).attempts[0]).toEqual(first.attempts[0]);
    await waitFor('the second attempt to be held', () => receiver.requests.length >= 2);
    await service.crashAndRestart(); // in the middle of the second
    await waitFor('the attempt that is made again to be held', () => receiver.requests.length >= 3);
    const underWay = await storyOf(id);
    // A request that was never answered is not recorded as an attempt: its outcome is unknown.
    expect(underWay).toMatchObject({ status: 'pending', attempts: [first.attempts[0]] });
    expect(Date.parse(underWay.next_attempt_at)).toBe(Date.parse(first.next_attempt_at));
    // Its trace is in the log.
    expect(await readFile(service.logFile, 'utf8')).toContain(
      'what was under way when a process ended may arrive a second time, with the same id',
    );

    await service.crashAndRestart(); // in the middle again; the next is answered
    const whole = await waitFor('the delivery', async () => {
      const story = await storyOf(id);
      return story.status === 'delivered' ? story : null;
    });
    expect(whole.attempts).toEqual([
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
    ]);
    expect(whole.next_attempt_at).toBeNull();
    expect(new Set(receiver.requests.map(({ headers }) => headers['x-service-delivery']))).toEqual(
      new Set([whole.event_id]),
    );
    expect(receiver.requests).toHaveLength(4);
    await service.crashAndRestart();
    expect(await storyOf(id)).toEqual(whole);
  });

  it('comes in pages, newest first, and by status', async () => {
    const receiverPath = '/paged';
    answer = (_nth, response) => void response.writeHead(400).end();
    const { id } = await receiver.subscribe(service, 'message.received', receiverPath);
    const customer = await chatCustomer(service.url);
    for (let n = 0; n < 5; n++) await customer.write(`message ${n}`);
    const failed = async (query: string) =>
      (await service.api.get(`/api/hooks/${id}/deliveries?status=failed${query}`)).body;
    await waitFor('five failed', async () => (await failed('')).data.length === 5);
    answer = (_nth, response) => void response.writeHead(200).end();
    await customer.write('arrives');
    await waitFor(
      'one delivered',
      async () =>
        (await service.api.get(`/api/hooks/${id}/deliveries?status=delivered`)).body.data.length ===
        1,
    );
    const all: string[] = [];
    let cursor = '';
    do {
      const page = await failed(`&limit=2${cursor}`);
      expect(page.data.length).toBeLessThanOrEqual(2);
      all.push(...page.data.map((each: Json) => each.id));
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '');
    expect(all).toEqual([...new Set(all)].sort().reverse());
    expect(all).toHaveLength(5);
  });
});
