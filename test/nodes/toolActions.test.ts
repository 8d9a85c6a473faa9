import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  callIn,
  makeLive,
  startToolEndpoint,
  TOOL_TEST_ENV,
  type ToolEndpoint,
} from '../helpers/toolEndpoint.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { chosen, RETRY_ON_FAIL, useService, type Rest } from './helpers/actions.ts';
import { ACTION, actionNode, failureOf, ourNode } from './helpers/n8n.ts';

const { credential, open, resource, search, service, wire } = useService(TOOL_TEST_ENV);
const PATH = '/find_order';
let endpoint: ToolEndpoint;
beforeAll(async () => {
  endpoint = await startToolEndpoint();
});
beforeEach(() => {
  endpoint.forget();
  endpoint.answerAlways(PATH, { json: { status: 'shipped' } });
});
const received = () => endpoint.envelopes(PATH);
afterEach(async () => {
  for (const { id } of (await service().api.get('/api/tools')).body.data)
    await service().api.delete(`/api/tools/${id}`);
});
afterAll(() => endpoint.close());

const tool = resource('tool', { simplify: false });
const toolCall = resource('toolCall', { simplify: false });
const toolById = (id: string) => ({ toolId: chosen('list', id) });
const requests = () => wire().seen.map(({ method, path }) => `${method} ${path}`);

const PARAMETERS = {
  type: 'object',
  properties: { order_number: { type: 'string' } },
  required: ['order_number'],
};
const define = async (name = 'find_order', changes: object = {}): Promise<string> => {
  const description = 'Finds an order by its number.';
  const fields = { name, description, parameters: PARAMETERS, ...changes };
  return (await endpoint.define(service().api, fields)).id;
};
const ARGUMENTS = { order_number: 'A-1042' };
async function live(name?: string, changes: object = {}): Promise<string> {
  const id = await define(name, changes);
  await makeLive(service().api, { id }, ARGUMENTS);
  return id;
}

describe('Tool', () => {
  it('gets one, with its status and its last test', async () => {
    const id = await live();
    const { items, paired } = await tool('get', { parameters: toolById(id) });
    expect(items).toMatchObject([
      { id, name: 'find_order', status: 'live', last_test: { succeeded: true } },
    ]);
    expect(items[0]).not.toHaveProperty('secret');
    expect(paired).toEqual([{ item: 0 }]);
    expect(requests()).toEqual([`GET /api/tools/${id}`]);
  });

  it('lists by name and status, up to a limit or all; an empty filter filters nothing', async () => {
    await live('find_order');
    await define('track_order');
    await define('cancel_order');
    const names = async (parameters: Rest['parameters']) =>
      (await tool('getAll', { parameters })).items.map(({ name }) => name).sort();
    expect(await names({ returnAll: true })).toEqual(['cancel_order', 'find_order', 'track_order']);
    expect(await names({ returnAll: true, filters: { name: '' } })).toHaveLength(3);
    expect(await names({ limit: 2 })).toHaveLength(2);
    expect(await names({ filters: { name: 'track_order' } })).toEqual(['track_order']);
    expect(await names({ filters: { status: 'live' } })).toEqual(['find_order']);
    expect(await names({ filters: { name: 'track_order', status: 'live' } })).toEqual([]);
  });

  it('goes live after a test call with the sample arguments, pauses, and goes live again without one', async () => {
    const id = await define();
    const begun = await tool('goLive', {
      parameters: { ...toolById(id), sampleArguments: JSON.stringify(ARGUMENTS) },
    });
    expect(begun.items).toMatchObject([{ id, status: 'draft', going_live: true }]);
    const status = async () => (await service().api.get(`/api/tools/${id}`)).body.status;
    await waitFor('it to be live', async () => (await status()) === 'live');
    const testCall = { tool: 'find_order', arguments: ARGUMENTS, conversation_id: 'conv_test' };
    expect(received()).toEqual([expect.objectContaining(testCall)]);
    const parameters = toolById(id);
    expect((await tool('pause', { parameters })).items).toMatchObject([{ id, status: 'paused' }]);
    expect((await tool('goLive', { parameters })).items).toMatchObject([{ id, status: 'live' }]);
    expect(received()).toHaveLength(1);
  });

  it('does not go live untested and without sample arguments, and says what to enter', async () => {
    const error = await failureOf(tool('goLive', { parameters: toolById(await define()) }));
    expect(error).toMatchObject({
      httpCode: '409',
      context: { code: 'tool_not_tested' },
      description: expect.stringMatching(/"Sample Arguments".*Tool → Test/),
    });
  });

  it('tests with arguments, and gives the record of the call', async () => {
    const id = await define();
    const { items } = await tool('test', {
      parameters: { ...toolById(id), arguments: '={{ $json }}' },
      input: [ARGUMENTS],
    });
    expect(items).toEqual([
      expect.objectContaining({
        tool_call_id: expect.stringMatching(/^call_/),
        tool: 'find_order',
        arguments: ARGUMENTS,
        args: ARGUMENTS,
        status: 'succeeded',
        http_status: 200,
        result: { status: 'shipped' },
      }),
    ]);
  });

  it('gives a test that failed as an item, for the workflow to judge', async () => {
    endpoint.answerAlways(PATH, { status: 500, json: { message: 'Error in workflow' } });
    const { items } = await tool('test', {
      parameters: { ...toolById(await define()), arguments: JSON.stringify(ARGUMENTS) },
    });
    expect(items).toEqual([
      expect.objectContaining({
        status: 'failed',
        http_status: 500,
        attempts: 3,
        error: { type: 'http_status', message: expect.any(String) },
      }),
    ]);
    expect(received()).toHaveLength(3);
  });

  it('waits for a test as long as the service does: longer than for any other answer', async () => {
    const id = await define('find_order', { timeout: 120 });
    const timeouts: Array<number | undefined> = [];
    const node = ourNode(ACTION, {
      resource: 'tool',
      operation: 'test',
      ...toolById(id),
      arguments: '{}',
    });
    const context = {
      getNode: () => node,
      getInputData: () => [{ json: {} }],
      getNodeParameter: (name: string) => (name === 'toolId' ? id : node.parameters[name]),
      getCredentials: async () => credential(),
      continueOnFail: () => false,
      helpers: {
        httpRequestWithAuthentication: async (_type: string, { timeout }: { timeout?: number }) => {
          timeouts.push(timeout);
          return { statusCode: 200, headers: {}, body: {} };
        },
      },
    };
    await actionNode.execute!.call(context as never);
    // Three attempts of 120 seconds, and the pauses between them.
    expect(timeouts[0]).toBeGreaterThan(390_000);
  });

  it.each(['[1]', '"text"', '{"order'])('calls nothing for the arguments %s', async (given) => {
    const error = await failureOf(
      tool('test', { parameters: { ...toolById('tool_1'), arguments: given } }),
    );
    expect(error).toMatchObject({
      name: 'NodeOperationError',
      message: expect.stringContaining('"Arguments" is not'),
      description: expect.stringContaining('order_number'),
    });
    expect(requests()).toEqual([]);
  });

  it('names the field when the arguments do not fit', async () => {
    const error = await failureOf(
      tool('test', {
        parameters: { ...toolById(await define()), arguments: '{"order_number":1}' },
      }),
    );
    expect(error).toMatchObject({
      httpCode: '400',
      description: expect.stringContaining('Field: arguments.'),
    });
  });

  it('works on each item, and goes on after one that failed when told to', async () => {
    const id = await define();
    const { items, paired } = await tool('pause', {
      parameters: { toolId: chosen('id', '={{ $json.id }}') },
      input: [{ id: 'tool_unknown' }, { id }, { id: 'a/b' }],
      node: { onError: 'continueRegularOutput' },
    });
    expect(items).toEqual([
      {
        error: expect.stringContaining('tool_unknown'),
        details: { code: 'not_found', fix: expect.any(String) },
      },
      expect.objectContaining({ id }),
      {
        error: '"a/b" is not the ID of a tool',
        details: { fix: expect.stringContaining('Tool → Get Many') },
      },
    ]);
    expect(paired).toEqual([{ item: 0 }, { item: 1 }, { item: 2 }]);
  });

  it('is chosen from a list, by a part of its name', async () => {
    const id = await live('find_order');
    await define('track_package');
    expect((await search('searchTools')).results).toHaveLength(2);
    expect((await search('searchTools', 'ORDER')).results).toEqual([
      { name: 'find_order · Live', value: id },
    ]);
  });
});

describe('Tool Call', () => {
  /** A call of the agent that waits for a person. */
  async function waiting(): Promise<{ id: string; conversationId: string }> {
    await live('find_order', { ask_before_running: true });
    const { id: conversationId } = await open('Please find my order A-1042');
    const query = `conversation_id=${conversationId}`;
    const call = await callIn(service().api, query, 'pending_approval');
    return { id: call.tool_call_id, conversationId };
  }

  it('is found by Get Many, by status, tool and conversation, and chosen from a list', async () => {
    const { id, conversationId } = await waiting();
    const find = async (filters: Record<string, string>) =>
      (await toolCall('getAll', { parameters: { filters } })).items.map(
        (each) => each.tool_call_id,
      );
    expect(await find({ status: 'pending_approval' })).toEqual([id]);
    const its = { tool: 'find_order', conversation_id: conversationId };
    expect(await find({ status: 'pending_approval', ...its })).toEqual([id]);
    expect(await find({ conversation_id: 'conv_other' })).toEqual([]);
    expect(await find({ tool: 'other' })).toEqual([]);
    expect((await find({ tool: '', conversation_id: '' })).length).toBeGreaterThan(1);
    expect((await toolCall('getAll', { parameters: { limit: 1 } })).items).toHaveLength(1);
    const { results } = await search('searchPendingToolCalls', 'a-1042');
    expect(results).toEqual([
      { name: expect.stringMatching(/^find_order · \{.*A-1042.*\} · /), value: id },
    ]);
    expect(requests().at(-1)).toContain('status=pending_approval');
  });

  it('is approved with a note, from the item of Get Many, and runs, although the first answer is lost', async () => {
    const { id } = await waiting();
    let tries = 0;
    wire().loses = (_method, path) => path.endsWith('/approve') && ++tries === 1;
    const { items, paired } = await toolCall('approve', {
      parameters: { note: ' Checked ' },
      node: RETRY_ON_FAIL,
      input: [{ tool_call_id: id }],
    });
    expect(items).toMatchObject([
      { tool_call_id: id, decision: { approved: true, note: 'Checked', by: { type: 'api' } } },
    ]);
    expect(paired).toEqual([{ item: 0 }]);
    expect(tries).toBe(2);
    const one = async () => (await toolCall('get', { input: [{ tool_call_id: id }] })).items[0]!;
    await waitFor('its end', async () => (await one()).status === 'succeeded');
    const { arguments: given, ...done } = await one();
    expect(done).toMatchObject({ result: { status: 'shipped' }, args: given });
    expect(items[0]!.args).toEqual(given);
    const filters = { status: 'succeeded', tool: 'find_order' };
    const { items: listed } = await toolCall('getAll', { parameters: { limit: 1, filters } });
    expect(listed).toMatchObject([{ args: expect.anything() }]);
    expect(received().at(-1)).toMatchObject({ tool_call_id: id });
  });

  it('is rejected without a note, and a second decision fails and says so', async () => {
    const { id } = await waiting();
    const before = received().length;
    const { items } = await toolCall('reject', { input: [{ tool_call_id: id }] });
    expect(items).toMatchObject([
      { status: 'rejected', decision: { approved: false, note: null } },
    ]);
    expect(await failureOf(toolCall('approve', { input: [{ tool_call_id: id }] }))).toMatchObject({
      httpCode: '409',
      context: { code: 'approval_already_decided' },
      description: expect.stringContaining('Somebody has decided already'),
    });
    expect(received()).toHaveLength(before);
  });

  it.each(['approve', 'reject', 'get'])('calls nothing for %s without an ID', async (operation) => {
    expect(await failureOf(toolCall(operation))).toMatchObject({
      message: 'The ID of the tool call is empty',
      description: expect.stringContaining('$json.tool_call_id'),
    });
    expect(requests()).toEqual([]);
  });
});
