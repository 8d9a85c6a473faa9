import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer, type ChatCustomer } from '../../helpers/apiClient.ts';
import {
  signatureFault,
  startEventReceiver,
  type EventReceiver,
} from '../../helpers/eventReceiver.ts';
import { startServiceProcess, type ServiceProcess } from '../../helpers/serviceProcess.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { settledDeliveries } from './settledDeliveries.ts';

/** Messages that other steps of the test write while the subscription to messages is removed. */
const OTHER_MESSAGES = 2;

/** The most that can be under way, and so be repeated, when the process is killed. */
const MAX_UNDER_WAY = 32;

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are looked at field by field
type Json = any;
type Answer = (response: ServerResponse) => void;

const take: Answer = (response) => void response.end('taken');
const hold: Answer = () => {};

/** A receiver of one kind of event, so that each test has its own deliveries. */
interface Subscriber {
  readonly event: string;
  readonly receiver: EventReceiver;
  answer: Answer;
}

/**
 * The built service as a process that is killed twice, while the deliveries of each kind of event
 * are at a stage of their own. The test compares what the service acknowledged with what the
 * receivers got and with the service's own record.
 */
describe('a service that is killed', () => {
  let tls: TlsFiles;
  let service: ServiceProcess;
  let customer: ChatCustomer;
  let retried: Subscriber;
  let revived: Subscriber;
  let redelivered: Subscriber;

  beforeAll(async () => {
    tls = await writeTlsFiles(await sharedTestCa());
    service = await startServiceProcess({
      caFile: tls.caFile,
      // No attempt that is held ends before the kill, on a busy machine too.
      env: { DELIVERY_RETRY_DELAYS_MS: '300,400,500', DELIVERY_TIMEOUT_MS: '30000' },
    });
    customer = await chatCustomer(service.url);
    retried = await subscriberOf('conversation.opened');
    revived = await subscriberOf('message.received');
    redelivered = await subscriberOf('conversation.closed');
  });
  afterAll(async () => {
    await service?.close();
    for (const each of [retried, revived, redelivered]) await each?.receiver.close();
    await tls?.remove();
  });

  async function subscriberOf(event: string): Promise<Subscriber> {
    const receiver = await startEventReceiver((_request, response) => started.answer(response));
    const started: Subscriber = { event, receiver, answer: take };
    return started;
  }
  const subscribe = ({ event, receiver }: Subscriber) => receiver.subscribe(service, event);
  /** Writes all messages at once, which every store can take. */
  const write = (count: number, what: string) =>
    Promise.all(Array.from({ length: count }, (_, n) => customer.write(`${what} ${n}`)));
  const ids = ({ receiver }: Subscriber, from = 0) =>
    receiver
      .payloads()
      .slice(from)
      .map(({ id }) => id as string);
  const deliveries = async (id: string): Promise<Json[]> =>
    (await service.api.get(`/api/hooks/${id}/deliveries`)).body.data;

  it('keeps what is on record, invents nothing, loses nothing, and repeats only what was under way', async () => {
    const revival = await failAndRemove();
    const redelivery = await deliverOnce();
    const refusal = await refuseOnce();

    await service.crashAndRestart(); // between two attempts, and while a subscription is removed
    const [story] = await deliveries(refusal.id);
    expect(story.attempts).toEqual(refusal.first.attempts);
    expect(revived.receiver.requests).toHaveLength(revival.failed);

    redelivered.answer = hold;
    await service.api.post(`/api/hooks/${redelivery.id}/deliveries/${redelivery.event}/redeliver`);
    await waitFor('the redelivery', () => redelivered.receiver.requests.length === 2);
    redelivered.answer = take;
    await waitFor('the second attempt to be held', () => refusal.held.length > 0);
    const heldBefore = refusal.held.length;
    const second = await reviveUntilMostIsToCome(revival.failed);
    await service.crashAndRestart(); // in the middle of an attempt, a redelivery and a revival
    await expectAttemptMadeAgain(refusal, heldBefore);
    await expectEverything(revival, second);
    await expectRepeatInTheSameRound();
  });

  /** Has the receiver refuse the first attempt and hold the next ones. */
  async function refuseOnce() {
    const { id } = await subscribe(retried);
    const held: ServerResponse[] = [];
    retried.answer = (response) => {
      response.writeHead(503, { 'content-type': 'text/plain' }).end('overloaded: come back');
      retried.answer = (next) => void held.push(next);
    };
    await (await chatCustomer(service.url)).write('hello');
    const first = await waitFor('the first attempt on record', async () => {
      const [shown] = await deliveries(id);
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
    return { id, held, first };
  }

  async function expectAttemptMadeAgain(
    { id, held, first }: Awaited<ReturnType<typeof refuseOnce>>,
    heldBefore: number,
  ) {
    await waitFor('it to be made again', () => held.length > heldBefore);
    // A request that was never answered is not recorded as an attempt: its outcome is unknown.
    expect((await deliveries(id))[0]).toEqual(first);
    // Its trace is in the log.
    expect(await readFile(service.logFile, 'utf8')).toContain(
      'what was under way when a process ended may arrive a second time, with the same id',
    );
    retried.answer = take;
    for (const response of held) response.end('taken');
    await settledDeliveries(service, id);
    const [whole] = await deliveries(id);
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
    expect(new Set(ids(retried))).toEqual(new Set([whole.event_id]));
  }

  /** Has deliveries fail, removes the subscription, and writes more messages afterwards. */
  async function failAndRemove() {
    const failed = 40;
    const missed = 80;
    const first = await subscribe(revived);
    // n8n has taken the address away already
    revived.answer = (response) => void response.writeHead(404).end();
    await write(failed, 'met a 404');
    await waitFor('the failures', () => revived.receiver.requests.length === failed);
    await settledDeliveries(service, first.id);
    await service.api.delete(`/api/hooks/${first.id}`);
    await write(missed, 'while removed');
    return { failed, all: failed + missed + OTHER_MESSAGES };
  }

  /** @returns the new subscription, once some deliveries are under way and others wait */
  async function reviveUntilMostIsToCome(failed: number) {
    let taken = 0;
    revived.answer = (response) => void ((taken += 1) <= 20 && response.end());
    const second = await subscribe(revived);
    await waitFor('the first of them', () => revived.receiver.requests.length > failed + 20);
    revived.answer = take;
    return second;
  }

  async function expectEverything(
    { failed, all }: Awaited<ReturnType<typeof failAndRemove>>,
    { id, secret }: { id: string; secret: string },
  ) {
    const revival = () => ids(revived, failed);
    await waitFor('everything', () => new Set(revival()).size === all);
    await settledDeliveries(service, id);
    expect(revival().length).toBeLessThanOrEqual(all + MAX_UNDER_WAY);
    const faults = revived.receiver.requests
      .slice(failed)
      .map((each) => signatureFault(each, secret));
    expect(faults.filter((fault) => fault !== null)).toEqual([]);
  }

  async function deliverOnce() {
    const { id } = await subscribe(redelivered);
    const { conversation_id: conversation } = await customer.write('goodbye');
    await service.api.post(`/api/conversations/${conversation}/close`, {
      summary: 'Done.',
      verdict: 'goal_reached',
    });
    await waitFor('the request', () => redelivered.receiver.requests.length === 1);
    await settledDeliveries(service, id);
    return { id, event: ids(redelivered)[0]! };
  }

  /** The round's number tells the receiver that this is a repeat, not another redelivery. */
  async function expectRepeatInTheSameRound() {
    await waitFor('it to come again', () => redelivered.receiver.requests.length >= 3);
    const [first, ...others] = redelivered.receiver.requests.map(({ headers }) => [
      headers['x-service-delivery'],
      headers['x-service-redelivery'],
      headers['x-service-redelivery-round'],
    ]);
    for (const each of others) expect(each).toEqual([first![0], 'manual', '1']);
  }
});
