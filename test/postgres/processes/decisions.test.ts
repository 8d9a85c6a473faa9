// The first decision counts, wherever it is made; who answers a conversation is settled once.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startCluster, type Cluster } from '../../helpers/cluster.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../../helpers/tls.ts';
import {
  ask,
  callIn,
  makeLive,
  startToolEndpoint,
  TOOL_TEST_ENV,
  type DefinedTool,
  type ToolEndpoint,
} from '../../helpers/toolEndpoint.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { allowSlowStarts, apisOf, atOnce, countBy, rounds, visitor, type Json } from './race.ts';

allowSlowStarts();

const PATIENT = { timeoutMs: 60_000 };

describe('two API processes and a worker', () => {
  let tls: TlsFiles;
  let endpoint: ToolEndpoint;
  let cluster: Cluster;
  let approvalTool: DefinedTool;
  let directTool: DefinedTool;
  beforeAll(async () => {
    tls = await writeTlsFiles(await sharedTestCa());
    endpoint = await startToolEndpoint();
    cluster = await startCluster(['api', 'api', 'worker'], {
      caFile: tls.caFile,
      env: TOOL_TEST_ENV,
    });
    const { api } = apisOf(cluster)[0]!;
    approvalTool = await endpoint.define(api, {
      name: 'cancel_order',
      ask_before_running: true,
      timeout: 10,
    });
    directTool = await endpoint.define(api, { name: 'check_stock', timeout: 10 });
    await makeLive(api, approvalTool);
  });
  beforeEach(() => endpoint.forget());
  afterAll(async () => {
    await cluster?.stop();
    await endpoint?.close();
    await tls?.remove();
  });

  const [first, second] = [() => apisOf(cluster)[0]!, () => apisOf(cluster)[1]!];
  const read = async (id: string): Promise<Json> =>
    (await second().api.get(`/api/conversations/${id}?messages=200`)).body;
  const untilNoTurns = () =>
    waitFor(
      'the agent to have nothing to do',
      async () =>
        (await cluster.query(`SELECT 1 FROM "${cluster.schema}".jobs WHERE queue = 'agent_turns'`))
          .length === 0,
      PATIENT,
    );

  it('a test call that an API process waits for is made by the worker', async () => {
    for (const n of rounds(4)) {
      const { status, body } = await apisOf(cluster)[n % 2]!.api.post(
        `/api/tools/${directTool.id}/test`,
        { arguments: {} },
      );
      expect([status, body.status]).toEqual([200, 'succeeded']);
    }
    expect(endpoint.at(directTool.path)).toHaveLength(4);
    expect(endpoint.faults).toEqual([]);
  });

  it('of an approval and a rejection at the same moment, one counts', async () => {
    for (const round of rounds(4)) {
      const { conversationId } = await ask(first().url, approvalTool);
      const { tool_call_id: id } = await callIn(
        second().api,
        `conversation_id=${conversationId}`,
        'pending_approval',
      );
      endpoint.forget();
      const verbs =
        round % 2 === 0 ? (['approve', 'reject'] as const) : (['reject', 'approve'] as const);
      const answers = await atOnce(cluster, 2, ({ api }, n) =>
        api.post(`/api/tool-calls/${id}/${verbs[n]!}`, {}),
      );
      expect(countBy(answers, ({ status, body }) => body.error?.code ?? status)).toEqual({
        200: 1,
        approval_already_decided: 1,
      });
      const approved = verbs[answers.findIndex(({ status }) => status === 200)] === 'approve';
      const call = await waitFor(
        'the call to end',
        async () => {
          const { body } = await second().api.get(`/api/tool-calls/${id}`);
          return ['succeeded', 'rejected'].includes(body.status) && body;
        },
        PATIENT,
      );
      expect([call.decision.approved, call.status]).toEqual([
        approved,
        approved ? 'succeeded' : 'rejected',
      ]);
      await untilNoTurns();
      expect(endpoint.at(approvalTool.path)).toHaveLength(approved ? 1 : 0);
    }
  });

  it('the agent says nothing after a takeover, whenever it comes', async () => {
    let answered = 0;
    for (const round of rounds(10)) {
      const customer = await visitor(cluster);
      const { body: written } = await customer
        .at(first())
        .post('/api/chat/messages', { text: 'hello there', client_message_id: 'hello' });
      const id = written.conversation_id as string;
      // Later and later: before the agent begins, while it decides, after it has spoken.
      for (let n = 0; n < round % 5; n++) await second().api.get(`/api/conversations/${id}`);
      const { body: taken } = await second().api.post(`/api/conversations/${id}/takeover`, {});
      await untilNoTurns();
      const found = await read(id);
      expect([found.status, found.message_count]).toEqual(['human_active', taken.message_count]);
      expect(
        found.messages.filter(({ sender }: Json) => sender.type === 'agent').length,
      ).toBeLessThanOrEqual(1);
      answered += found.message_count - 1;
    }
    expect(answered).toBeLessThan(10); // some were taken over in time
  });

  it('the agent answers once when a customer writes at both', async () => {
    for (const _ of rounds(5)) {
      const customer = await visitor(cluster);
      const answers = await atOnce(cluster, 4, (process, n) =>
        customer
          .at(process)
          .post('/api/chat/messages', { text: `hello ${n}`, client_message_id: `hello ${n}` }),
      );
      const id = answers[0]!.body.conversation_id as string;
      await waitFor(
        'an answer of the agent',
        async () => (await read(id)).messages.some(({ sender }: Json) => sender.type === 'agent'),
        PATIENT,
      );
      await untilNoTurns();
      // It cannot help with a greeting, says so once and gives the conversation to the team.
      const { status, messages, message_count: count } = await read(id);
      expect([status, count, messages.length]).toEqual(['awaiting_human', 5, 5]);
      expect(messages.filter(({ sender }: Json) => sender.type === 'agent')).toHaveLength(1);
    }
  });
});
