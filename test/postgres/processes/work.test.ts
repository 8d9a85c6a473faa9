// Three workers share what is to be sent: each thing once, no receiver overrun, each customer's
// texts in their order.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startCluster, type Cluster } from '../../helpers/cluster.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { accept, startGraphServer, type GraphServer } from '../../helpers/graphServer.ts';
import { readMetrics } from '../../helpers/metrics.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { connectWhatsApp } from '../../service/channels/whatsapp/whatsappTalk.ts';
import { allowSlowStarts, apisOf, rounds, visitor, type Json } from './race.ts';

allowSlowStarts();

const PATIENT = { timeoutMs: 120_000 };
const SUBSCRIPTIONS = 12;
const MESSAGES = 20;
/**
 * An answer after 0.1 to 0.3 of the deadline neither raises nor lowers a limit. No standstill of a
 * busy machine is as long as the deadline.
 */
const [DEADLINE_MS, SLOW_MS] = [10_000, 1_500];
const INITIAL_IN_FLIGHT = 4;
const RESTARTED = [2, 3];
/** Written before each restart, so that there is work left however long a restart takes. */
const EVENTS_PER_RESTART = 30;
const EVENTS = EVENTS_PER_RESTART * RESTARTED.length;

describe('three workers', () => {
  let receiver: EventReceiver;
  let graph: GraphServer;
  let cluster: Cluster;
  /** Requests that are under way, and the most that were. */
  let [now, most] = [0, 0];
  let answerMs = 20;

  beforeAll(async () => {
    graph = await startGraphServer();
    receiver = await startEventReceiver((_request, response) => {
      now += 1;
      most = Math.max(most, now);
      setTimeout(() => {
        now -= 1;
        response.end('ok');
      }, answerMs);
    });
    cluster = await startCluster(['api', 'api', 'worker', 'worker', 'worker'], {
      env: { GRAPH_API_URL: graph.url, DELIVERY_TIMEOUT_MS: String(DEADLINE_MS) },
    });
  });
  afterAll(async () => {
    await cluster?.stop();
    await graph?.close();
    await receiver?.close();
  });

  const workers = () => cluster.processes.filter(({ role }) => role === 'worker');
  const deliveredBy = () =>
    Promise.all(
      workers().map(async ({ url }) =>
        (await readMetrics(url))
          .values('conversation_service_deliveries_total')
          .reduce((sum, value) => sum + value, 0),
      ),
    );
  const write = async (count: number) => {
    const apis = apisOf(cluster);
    const customers = await Promise.all(rounds(10).map(() => visitor(cluster)));
    await Promise.all(
      customers.map(async (customer, c) => {
        for (let n = c; n < count; n += customers.length) {
          const { status } = await customer.write(apis[n % apis.length]!, `message ${n}`);
          expect(status).toBe(202);
        }
      }),
    );
  };
  /** Waits until no delivery of these subscriptions waits or is under way. */
  const allRecorded = (hooks: readonly { id: string }[]) =>
    waitFor(
      'everything to be recorded',
      async () =>
        (
          await cluster.query(
            `SELECT 1 FROM "${cluster.schema}".jobs WHERE split_part(group_key, ' ', 2) = ANY($1) LIMIT 1`,
            [hooks.map(({ id }) => id)],
          )
        ).length === 0,
      PATIENT,
    );

  it('deliver everything once to many subscriptions, and share them', async () => {
    const hooks = [];
    for (const n of rounds(SUBSCRIPTIONS))
      hooks.push(
        await receiver.subscribe(
          { api: apisOf(cluster)[n % 2]!.api },
          'message.received',
          `/share/${n}`,
        ),
      );
    const before = await deliveredBy();
    await write(MESSAGES);
    await waitFor(
      'every event at every subscription',
      () => receiver.requests.length >= MESSAGES * SUBSCRIPTIONS,
      PATIENT,
    );
    await allRecorded(hooks);
    expect(receiver.requests).toHaveLength(MESSAGES * SUBSCRIPTIONS);
    expect(
      new Set(
        receiver.requests.map(({ path, headers }) => `${path} ${headers['x-service-delivery']}`),
      ).size,
    ).toBe(MESSAGES * SUBSCRIPTIONS);
    expect(receiver.faults).toEqual([]);
    const delivered = (await deliveredBy()).map((count, n) => count - before[n]!);
    expect(delivered.reduce((sum, each) => sum + each, 0)).toBe(MESSAGES * SUBSCRIPTIONS);
    expect(delivered.filter((each) => each > 0).length).toBeGreaterThanOrEqual(2);
    for (const { id } of hooks) await apisOf(cluster)[0]!.api.delete(`/api/hooks/${id}`);
  });

  it("send each customer's texts one after the other, in the order in which they were written", async () => {
    graph.answerBy(
      () => (response, take, request) =>
        void sleep(Math.random() * 60).then(() => accept(response, take, request)),
    );
    const [first, second] = apisOf(cluster);
    const account = await connectWhatsApp(first!, graph);
    const phones = rounds(6).map((n) => `54911500000${String(n).padStart(2, '0')}`);
    const conversations: string[] = [];
    for (const phone of phones) conversations.push((await account.customer(phone)).conversationId);
    const written = await Promise.all(
      conversations.map(async (id, c) => {
        const texts = rounds(12).map((n) => `text ${n} to ${c}`);
        for (const [n, text] of texts.entries())
          expect(
            (
              await (n % 2 === 0 ? first! : second!).api.post(`/api/conversations/${id}/messages`, {
                text,
              })
            ).status,
          ).toBe(201);
        return texts;
      }),
    );
    await waitFor('every text', () => graph.taken.length >= phones.length * 12, PATIENT);
    await waitFor(
      'every text on record',
      async () =>
        (
          await cluster.query(
            `SELECT 1 FROM "${cluster.schema}".jobs WHERE queue = 'outbound_messages' LIMIT 1`,
          )
        ).length === 0,
      PATIENT,
    );
    const sent = phones.map((phone) =>
      graph.taken.filter(({ body }) => body.to === phone).map(({ body }) => body.text.body),
    );
    expect(sent).toEqual(written);
    expect(graph.faults).toEqual([]);
    const { body }: Json = await second!.api.get(
      `/api/conversations/${conversations[0]}?messages=200`,
    );
    expect(
      body.messages
        .filter(({ direction }: Json) => direction === 'outbound')
        .map(({ delivery }: Json) => delivery.state),
    ).toEqual(rounds(12).map(() => 'sent'));
  });

  it('have as many under way at a slow receiver as one process would, also while one stops and another goes on', async () => {
    const hook = await receiver.subscribe({ api: apisOf(cluster)[0]!.api }, 'message.received');
    receiver.requests.splice(0);
    [answerMs, most] = [SLOW_MS, 0];
    for (const index of RESTARTED) {
      await write(EVENTS_PER_RESTART);
      const before = receiver.requests.length;
      await waitFor('more of it', () => receiver.requests.length >= before + 12, PATIENT);
      await cluster.restart(index);
    }
    await waitFor('every event', () => receiver.requests.length >= EVENTS, PATIENT);
    await allRecorded([hook]);
    expect(receiver.requests).toHaveLength(EVENTS);
    expect(
      new Set(receiver.requests.map(({ headers }) => headers['x-service-delivery'])).size,
    ).toBe(EVENTS);
    expect(most).toBe(INITIAL_IN_FLIGHT);
  });
});
