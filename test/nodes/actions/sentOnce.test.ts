import { describe, expect, it } from '@jest/globals';
import { byId, useService } from '../helpers/actions.ts';
import {
  ACTION,
  actionNode,
  additionalData,
  core,
  failureOf,
  ourNode,
  workflow,
  workflowWith,
} from '../helpers/n8n.ts';
import { startWire } from '../helpers/strangers.ts';

const { credential, open, resource, service } = useService();
const conversation = resource('conversation');

describe('Send Message is sent once', () => {
  it('under Retry On Fail, although the first answer is lost', async () => {
    const { id, texts } = await open();
    const wire = await startWire(() => service().url);
    try {
      let answered = 0;
      wire.loses = (method) => method === 'POST' && answered++ === 0;
      const { items } = await conversation('sendMessage', {
        credential: { baseUrl: wire.url, apiKey: service().apiKey },
        parameters: { ...byId(id), text: 'once' },
        node: { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 },
      });
      expect(answered).toBe(2);
      expect(items).toHaveLength(1);
      expect(await texts()).toEqual(['once']);
      const keys = wire.seen.map(({ headers }) => headers['idempotency-key']);
      expect(keys[0]).toMatch(/^[0-9a-f]{64}$/);
      expect(keys[0]).toBe(keys[1]);
    } finally {
      await wire.close();
    }
  });

  it('for each item, each run of a loop, each node, workflow and execution', async () => {
    const { id, texts } = await open();
    const parameters = { ...byId(id), text: 'same text' };
    await conversation('sendMessage', { parameters, input: [{}, {}] });
    expect(await texts()).toHaveLength(2);
    await conversation('sendMessage', { parameters, runs: 2, executionId: '2' });
    expect(await texts()).toHaveLength(4);
    await conversation('sendMessage', { parameters, executionId: '3' });
    await conversation('sendMessage', { parameters, executionId: '3', node: { id: 'node-2' } });
    await conversation('sendMessage', { parameters, executionId: '3', workflowId: 'workflow-2' });
    expect(await texts()).toHaveLength(7);
  });

  it('for a deduplication key, whichever execution asks', async () => {
    const { id, texts } = await open();
    const send = (key: string | number, text = 'hi', executionId = '1') =>
      conversation('sendMessage', {
        executionId,
        parameters: { ...byId(id), text, options: { deduplicationKey: key } },
      });
    const first = await send('evt_1', 'hi', '1');
    const again = await send('evt_1', 'hi', '2');
    expect(again.items).toEqual(first.items);
    await send('evt_2', 'hi', '3');
    expect(await texts()).toHaveLength(2);
    await send(0, 'hi', '5');
    await send(0, 'hi', '6');
    expect(await texts()).toHaveLength(3);
    const error = await failureOf(send('evt_1', 'another text', '4'));
    expect(error).toMatchObject({
      httpCode: '409',
      description: expect.stringContaining('Deduplication Key'),
    });
    expect(await texts()).toHaveLength(3);
  });

  it('when an agent’s tool call is tried again, which n8n counts as another run', async () => {
    const { id, texts } = await open();
    const call = async (runIndex: number, text: string) => {
      const node = ourNode(ACTION, {
        resource: 'conversation',
        operation: 'sendMessage',
        ...byId(id),
        text,
      });
      const wf = workflowWith(node);
      const runData = workflow.createRunExecutionData({});
      const input = { ai_tool: [[{ json: {} }]], main: [[{ json: {} }]] };
      const context = new core.SupplyDataContext(
        wf,
        wf.getNode(node.name)!,
        additionalData(credential, { executionId: '9' }),
        'webhook',
        runData,
        runIndex,
        [{ json: {} }],
        input,
        'ai_tool',
        { node, data: input, source: null },
        [],
      );
      return actionNode.execute!.call(context as never);
    };
    await call(0, 'from the tool');
    await call(1, 'from the tool');
    await call(2, 'another text');
    expect(await texts()).toEqual(['from the tool', 'another text']);
  });
});
