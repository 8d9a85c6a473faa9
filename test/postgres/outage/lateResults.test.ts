// A worker stands still for longer than its leases, and another one takes over what it had begun.
// The results of its attempts then change nothing, except a success that is still owed.
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { startCluster, type Cluster } from '../../helpers/cluster.ts';
import { startEventReceiver } from '../../helpers/eventReceiver.ts';
import {
  accept,
  graphError,
  startGraphServer,
  type GraphServer,
  type TakenMessage,
} from '../../helpers/graphServer.ts';
import {
  callIn,
  startToolEndpoint,
  type Answer,
  type DefinedTool,
  type ToolEndpoint,
} from '../../helpers/toolEndpoint.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { connectWhatsApp } from '../../service/channels/whatsapp/whatsappTalk.ts';
import { expireLeases } from '../schemas.ts';
import { startPostgres, type PostgresServer } from '../server.ts';

const [API, SLEEPER, OTHER] = [0, 1, 2] as const;
/**
 * A text that may have arrived is sent again after 15 s without a receipt, and a busy machine is
 * slow.
 */
const AGAIN = { timeoutMs: 45_000 };

describe('a worker that stood still', () => {
  let server: PostgresServer;
  let endpoint: ToolEndpoint;
  let graph: GraphServer;
  let cluster: Cluster;
  beforeAll(async () => {
    server = await startPostgres({ fsync: false });
    endpoint = await startToolEndpoint();
    graph = await startGraphServer();
    const env = {
      GRAPH_API_URL: graph.url,
      TOOL_RETRY_DELAYS_MS: '10,20',
      CHANNEL_RETRY_DELAYS_MS: '100,100,100,100',
      DELIVERY_TIMEOUT_MS: '60000',
      LOG_LEVEL: 'debug',
    };
    cluster = await startCluster(['api', 'worker', 'worker'], {
      databaseUrl: server.url,
      env,
    });
  }, 120_000);
  beforeEach(async () => {
    await cluster.terminate(OTHER);
    if (!cluster.processes[SLEEPER]!.isRunning) await cluster.restart(SLEEPER);
  }, 60_000);
  afterEach(() => {
    const sleeper = cluster.processes[SLEEPER]!;
    if (sleeper.isRunning) process.kill(sleeper.pid, 'SIGCONT');
    expect([...endpoint.faults, ...graph.faults]).toEqual([]);
  });
  afterAll(async () => {
    await cluster?.stop();
    await graph?.close();
    await endpoint?.close();
    await server?.stop();
  });

  const api = () => cluster.processes[API]!.api;

  /** Stops the sleeper, lets its leases run out and starts the other worker in its place. */
  const takeOver = async () => {
    const { pid } = cluster.processes[SLEEPER]!;
    // Not with rows locked: everybody would wait until PostgreSQL ends its transaction.
    await waitFor('it to stand still outside of a transaction', async () => {
      process.kill(pid, 'SIGSTOP');
      const busy = await cluster.query(
        `SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid()`,
      );
      if (busy.length > 0) process.kill(pid, 'SIGCONT');
      return busy.length === 0;
    });
    await expireLeases(cluster.databaseUrl, cluster.schema);
    await cluster.restart(OTHER);
  };
  /**
   * Lets the sleeper go on until all its attempts have ended and are recorded.
   * @param said a log line of the sleeper, which comes once for each attempt
   * @param times how many such lines there are
   */
  const wake = async (said: RegExp, times = 1) => {
    const { pid, logFile } = cluster.processes[SLEEPER]!;
    process.kill(pid, 'SIGCONT');
    await waitFor(
      `its log to say ${said}`,
      async () => (await readFile(logFile, 'utf8')).match(new RegExp(said, 'g'))?.length === times,
    );
    await cluster.terminate(SLEEPER);
  };

  describe('in the middle of a call of a tool', () => {
    const held: ServerResponse[] = [];
    const hold: Answer = (_request, response) => void held.push(response);
    const answer = (nth: number, status: number, json: unknown) =>
      held[nth]!.writeHead(status, { 'content-type': 'application/json' }).end(
        JSON.stringify(json),
      );
    const call = async (tool: DefinedTool) => {
      endpoint.answerAlways(tool.path, hold);
      void api()
        .post(`/api/tools/${tool.id}/test`, {})
        .catch(() => {}); // how it ends is read elsewhere
      await waitFor('the call', () => held.length === 1);
    };
    const ended = (tool: DefinedTool) =>
      callIn(
        api(),
        `tool=${tool.name}&conversation_id=conv_test`,
        'succeeded',
        'failed',
        'cancelled',
      );
    afterEach(() => void held.splice(0));

    it('does not end the next attempt with the failure of its own', async () => {
      const tool = await endpoint.define(api(), { name: 'find_order', timeout: 60 });
      await call(tool);
      await takeOver();
      await waitFor('the next attempt', () => held.length === 2);
      answer(0, 500, {});
      await wake(/tool call attempt failed/);
      answer(1, 200, { found: 'by the other one' });
      expect(await ended(tool)).toMatchObject({
        status: 'succeeded',
        attempts: 2,
        result: { found: 'by the other one' },
      });
      expect(held).toHaveLength(2);
    }, 120_000);

    it('does not change how a call has ended that may have been carried out', async () => {
      const tool = await endpoint.defineHttp(api(), { name: 'book_table', timeout: 60 });
      await call(tool);
      await takeOver();
      const before = await ended(tool);
      expect(before).toMatchObject({
        status: 'failed',
        attempts: 1,
        error: { type: 'interrupted' },
      });
      answer(0, 200, { booked: true });
      await wake(/tool call succeeded/);
      expect(await ended(tool)).toEqual(before);
      expect(held).toHaveLength(1);
    }, 120_000);
  });

  it('in the middle of a delivery: its failure is on record, and changes nothing of what the other one has done', async () => {
    const held: ServerResponse[] = [];
    const receiver = await startEventReceiver((_request, response) => void held.push(response));
    try {
      const { id } = await receiver.subscribe({ api: api() }, 'message.received');
      const customer = await chatCustomer(cluster.processes[API]!.url);
      await customer.write('Are you there?');
      await waitFor('the attempt', () => held.length === 1);
      await takeOver();
      await waitFor('the next attempt', () => held.length === 2);
      held[1]!.end('ok');
      const delivery = async () => (await api().get(`/api/hooks/${id}/deliveries`)).body.data[0];
      await waitFor('its success', async () => (await delivery()).status === 'delivered');
      held[0]!.writeHead(500).end();
      await wake(/"attempt failed"/);
      expect(await delivery()).toMatchObject({
        status: 'delivered',
        next_attempt_at: null,
        attempts: [{ status_code: 200 }, { status_code: 500 }],
      });
      expect((await api().get('/api/hooks')).body.data).toMatchObject([
        { id, status: 'active', consecutive_failures: 0 },
      ]);
      expect(held).toHaveLength(2);
      expect(receiver.faults).toEqual([]);
      await api().delete(`/api/hooks/${id}`);
    } finally {
      await receiver.close();
    }
  }, 120_000);

  it('in the middle of sending: the failure of its own attempt does not end it, and what arrived is not sent again', async () => {
    const held = new Map<
      string,
      { res: ServerResponse; take: () => TakenMessage; request: Parameters<typeof accept>[2] }[]
    >();
    graph.answerBy(
      (request) => (res, take) =>
        void held.set(request.body.to!, [
          ...(held.get(request.body.to!) ?? []),
          { res, take, request },
        ]),
    );
    const tries = (phone: string) => held.get(phone) ?? [];
    const answer = (phone: string, nth: number, reply: typeof accept) => {
      const { res, take, request } = tries(phone)[nth]!;
      reply(res, take, request);
    };
    const phones = ['14155552301', '14155552302'] as const;
    const [failing, arriving] = phones;
    const refused = graphError(400, {
      code: 131009,
      message: '(#131009) Parameter value is not valid',
    });
    const account = await connectWhatsApp({ url: cluster.processes[API]!.url, api: api() }, graph);
    const customers = {
      [failing]: await account.customer(failing),
      [arriving]: await account.customer(arriving),
    };
    for (const phone of phones)
      expect((await customers[phone]!.reply('Your parcel is here')).status).toBe(201);
    await waitFor('both first tries', () => phones.every((phone) => tries(phone).length === 1));
    await takeOver();
    const waiting = () =>
      cluster.query(
        `SELECT 1 FROM "${cluster.schema}"."outbound_messages" WHERE document->>'isUnderWay' = 'false' AND document->>'status' = 'pending'`,
      );
    await waitFor(
      'the other one to wait for their receipts',
      async () => (await waiting()).length === 2,
    );
    answer(failing, 0, refused);
    answer(arriving, 0, accept);
    await wake(/an attempt to send an outbound message failed|an outbound message was sent/, 2);
    expect((await customers[failing]!.deliveries())[0]).toMatchObject({ state: 'pending' });
    expect((await customers[arriving]!.deliveries())[0]).toMatchObject({
      state: 'sent',
      error: null,
    });
    await waitFor('the second try', () => tries(failing).length === 2, AGAIN);
    answer(failing, 1, accept);
    await customers[failing]!.delivery(1, 'sent');
    expect(phones.map((phone) => tries(phone).length)).toEqual([2, 1]);
  }, 180_000);
});
