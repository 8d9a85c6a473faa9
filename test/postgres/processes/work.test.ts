// Three workers share what is to be sent: each thing once, no receiver overrun, each customer's
// texts in their order.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startCluster, type Cluster } from '../../helpers/cluster.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { accept, startGraphServer, type GraphServer } from '../../helpers/graphServer.ts';
import { readMetrics } from '../../helpers/metrics.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { connectWhatsApp } from '../../service/channels/whatsapp/whatsappTalk.ts';
import { allowSlowStarts, apisOf, rounds, visitor, type Json } from './race.ts';

allowSlowStarts();

const PATIENT = { timeoutMs: 90_000 };
const MAX_IN_FLIGHT = 32;
const SUBSCRIPTIONS = 12;
const MESSAGES = 40;

describe('three workers', () => {
  let tls: TlsFiles;
  let receiver: EventReceiver;
  let graph: GraphServer;
  let cluster: Cluster;
  /** Requests that are under way, by path, and the most that were. */
  const now = new Map<string, number>();
  const most = new Map<string, number>();
  let answerMs = () => 0;

  beforeAll(async () => {
    tls = await writeTlsFiles(await sharedTestCa());
    graph = await startGraphServer();
    receiver = await startEventReceiver(({ path }, response) => {
      const count = (now.get(path) ?? 0) + 1;
      now.set(path, count);
      most.set(path, Math.max(most.get(path) ?? 0, count));
      setTimeout(() => {
        now.set(path, now.get(path)! - 1);
        response.end('ok');
      }, answerMs());
    });
    cluster = await startCluster(['api', 'api', 'worker', 'worker', 'worker'], {
      caFile: tls.caFile,
      env: { GRAPH_API_URL: graph.url },
    });
    await apisOf(cluster)[0]!.api.patch('/api/agent', { enabled: false });
  });
  beforeEach(() => {
    receiver.requests.splice(0);
    most.clear();
  });
  afterAll(async () => {
    await cluster?.stop();
    await graph?.close();
    await receiver?.close();
    await tls?.remove();
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
          const { status } = await customer.at(apis[n % apis.length]!).post('/api/chat/messages', {
            text: `message ${n}`,
            client_message_id: `message ${n}`,
          });
          expect(status).toBe(202);
        }
      }),
    );
  };
  /** Nothing of a subscription waits, nothing is under way, and all has been recorded. */
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

  it('never have more under way at one subscription than one process would, however fast it answers', async () => {
    const hook = await receiver.subscribe(
      { api: apisOf(cluster)[0]!.api },
      'message.received',
      '/fast',
    );
    answerMs = () => 60 + Math.random() * 60;
    await write(250);
    await waitFor('every event', () => receiver.requests.length >= 250, PATIENT);
    await allRecorded([hook]);
    expect(receiver.requests).toHaveLength(250);
    expect(most.get('/fast')).toBeGreaterThan(4);
    expect(most.get('/fast')).toBeLessThanOrEqual(MAX_IN_FLIGHT);
    await apisOf(cluster)[1]!.api.delete(`/api/hooks/${hook.id}`);
  });

  it('deliver everything once to many subscriptions, and all of them work', async () => {
    const hooks = [];
    for (const n of rounds(SUBSCRIPTIONS))
      hooks.push(
        await receiver.subscribe(
          { api: apisOf(cluster)[n % 2]!.api },
          'message.received',
          `/share/${n}`,
        ),
      );
    answerMs = () => 20;
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
    expect(Math.max(...most.values())).toBeLessThanOrEqual(MAX_IN_FLIGHT);
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
});
