import { describe, expect, it } from '@jest/globals';
import { byId, hookById, RETRY_ON_FAIL, useService, type Rest } from '../helpers/actions.ts';
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

const { credential, open, resource, service, wire } = useService({ INSECURE_TARGETS: 'true' });
const conversation = resource('conversation');

describe('Send Message is sent once', () => {
  it('under Retry On Fail, although the first answer is lost', async () => {
    const { id, texts } = await open();
    wire().loses = () => wire().seen.length === 1;
    const { items } = await conversation('sendMessage', {
      parameters: { ...byId(id), text: 'once' },
      node: RETRY_ON_FAIL,
    });
    expect(items).toHaveLength(1);
    expect(await texts()).toEqual(['once']);
    const keys = wire().seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), keys[0]]);
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
    const send = (executionId: string, deduplicationKey: string | number, text = 'hi') =>
      conversation('sendMessage', {
        executionId,
        parameters: { ...byId(id), text, options: { deduplicationKey } },
      });
    const first = await send('1', 'evt_1');
    const again = await send('2', 'evt_1');
    expect(again.items).toEqual(first.items);
    await send('3', 'evt_2');
    expect(await texts()).toHaveLength(2);
    await send('5', 0);
    await send('6', 0);
    expect(await texts()).toHaveLength(3);
    expect(await failureOf(send('4', 'evt_1', 'another text'))).toMatchObject({
      httpCode: '409',
      description: expect.stringContaining('Deduplication Key'),
    });
    expect(await texts()).toHaveLength(3);
  });

  it('for no deduplication key when it is blank, and not at all when it is an object', async () => {
    const { id, texts } = await open();
    const send = (executionId: string, deduplicationKey: string) =>
      conversation('sendMessage', {
        executionId,
        parameters: { ...byId(id), text: 'hi', options: { deduplicationKey } },
        input: [{ event: { id: executionId } }],
      });
    await send('blank 1', ' ');
    await send('blank 2', ' ');
    expect(await texts()).toHaveLength(2);
    expect(await failureOf(send('object', '={{ $json.event }}'))).toMatchObject({
      name: 'NodeOperationError',
      message: 'The deduplication key is an object, not a text',
    });
    expect(await texts()).toHaveLength(2);
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

describe('A write that cannot be done a second time succeeds under Retry On Fail, although the first answer is lost', () => {
  const subscribe = async (): Promise<string> =>
    (
      await service().api.post('/api/hooks', {
        event: 'message.received',
        target_url: 'http://127.0.0.1:9/hook',
      })
    ).body.id;

  it.each<[string, string, () => Promise<Rest['parameters']>, object]>([
    [
      'conversation',
      'close',
      async () => ({ ...byId((await open()).id), summary: 'Done', verdict: 'goal_reached' }),
      { status: 'closed' },
    ],
    ['subscription', 'delete', async () => hookById(await subscribe()), { deleted: true }],
  ])('%s %s', async (of, operation, setUp, done) => {
    const parameters = await setUp();
    wire().loses = () => wire().seen.length === 1;
    const { items } = await resource(of)(operation, { parameters, node: RETRY_ON_FAIL });
    expect(items).toMatchObject([done]);
    expect(wire().seen).toHaveLength(2);
  });
});
