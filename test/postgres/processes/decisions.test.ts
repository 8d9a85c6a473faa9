// A worker runs what an API process asks for; who answers a conversation is settled once.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startCluster, type Cluster } from '../../helpers/cluster.ts';
import {
  makeLive,
  startToolEndpoint,
  TOOL_TEST_ENV,
  type DefinedTool,
  type ToolEndpoint,
} from '../../helpers/toolEndpoint.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { allowSlowStarts, apisOf, atOnce, rounds, visitor, type Json } from './race.ts';

allowSlowStarts();

describe('two API processes and a worker', () => {
  let endpoint: ToolEndpoint;
  let cluster: Cluster;
  let tool: DefinedTool;
  beforeAll(async () => {
    endpoint = await startToolEndpoint();
    cluster = await startCluster(['api', 'api', 'worker'], {
      env: TOOL_TEST_ENV,
    });
    const { api } = first();
    tool = await endpoint.define(api, { name: 'check_stock' });
    await makeLive(api, tool);
    endpoint.forget();
  });
  afterAll(async () => {
    await cluster?.stop();
    await endpoint?.close();
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
    );

  it('a test call that an API process waits for is made by the worker', async () => {
    for (const n of rounds(4)) {
      const { status, body } = await apisOf(cluster)[n % 2]!.api.post(
        `/api/tools/${tool.id}/test`,
        { arguments: {} },
      );
      expect([status, body.status]).toEqual([200, 'succeeded']);
    }
    expect(endpoint.at(tool.path)).toHaveLength(4);
    expect(endpoint.faults).toEqual([]);
  });

  it('the agent says nothing after a takeover, whenever it comes', async () => {
    let answered = 0;
    for (const round of rounds(10)) {
      const customer = await visitor(cluster);
      const { body: written } = await customer.write(first(), 'hello there');
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
        customer.write(process, `hello ${n}`),
      );
      const id = answers[0]!.body.conversation_id as string;
      await waitFor('an answer of the agent', async () =>
        (await read(id)).messages.some(({ sender }: Json) => sender.type === 'agent'),
      );
      await untilNoTurns();
      // It cannot help with a greeting, says so once and gives the conversation to the team.
      const { status, messages, message_count: count } = await read(id);
      expect([status, count, messages.length]).toEqual(['awaiting_human', 5, 5]);
      expect(messages.filter(({ sender }: Json) => sender.type === 'agent')).toHaveLength(1);
    }
  });
});
