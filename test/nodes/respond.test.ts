import { describe, expect, it } from '@jest/globals';
import type { INode, INodeExecutionData } from 'n8n-workflow';
import {
  ACTION,
  additionalData,
  execute,
  failureOf,
  nodeTypes,
  ourNode,
  passThroughNode,
  runDataAt,
  to,
  TOOL_TRIGGER,
  TRIGGER,
  workflow,
} from './helpers/n8n.ts';

// The operation that answers a tool call, in whole executions of n8n's engine that begin at a
// trigger. What n8n does with the answer then is shown in test/n8n.

interface Run {
  parameters?: INode['parameters'];
  /** What comes out of the trigger. */
  items?: INodeExecutionData[];
  responseMode?: string;
  /** Where the execution starts: the agent call trigger is called Trigger, the other one Other. */
  start?: 'Trigger' | 'Other';
  isToolTriggerConnected?: boolean;
  node?: Partial<INode>;
}

async function run({
  parameters = {},
  items = [{ json: { found: true } }],
  responseMode = 'responseNode',
  start = 'Trigger',
  isToolTriggerConnected = true,
  node = {},
}: Run) {
  const nodes: INode[] = [
    ourNode(
      TOOL_TRIGGER,
      { toolName: 'find_order', toolDescription: 'Finds an order.', responseMode },
      { id: 'trigger' },
    ),
    { ...ourNode(TRIGGER, {}), id: 'other', name: 'Other' },
    passThroughNode('Between'),
    ourNode(
      ACTION,
      { resource: 'toolCall', operation: 'respond', ...parameters },
      { id: 'respond', name: 'Respond', ...node },
    ),
  ];
  const connections = {
    ...(isToolTriggerConnected ? { Trigger: to('Between') } : {}),
    Other: to('Between'),
    Between: to('Respond'),
  };
  const wf = new workflow.Workflow({
    id: 'workflow-1',
    name: 'Test',
    nodes,
    connections,
    active: true,
    nodeTypes,
    settings: {},
  });
  const data = additionalData(() => ({ baseUrl: 'http://127.0.0.1:9', apiKey: 'k' }));
  const responses: unknown[] = [];
  const runData = runDataAt(wf.getNode(start)!, items);
  const result = await execute(wf, data, runData, (response) => responses.push(response));
  const runs = result.data.resultData.runData.Respond ?? [];
  return { responses, output: runs.flatMap((each) => each.data?.main?.[0] ?? []) };
}

const jsonResponse = (statusCode: number, body: string) => ({
  body,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  statusCode,
});

describe('Respond to Tool Call', () => {
  it('answers with the first item by default, once, and passes all items on', async () => {
    const items: INodeExecutionData[] = [
      { json: { text: 'Grüße 🎉' }, binary: { file: { data: 'eA==', mimeType: 'text/plain' } } },
      { json: { n: 2 } },
    ];
    const { responses, output } = await run({ items });
    expect(responses).toEqual([jsonResponse(200, '{"text":"Grüße 🎉"}')]);
    expect(output).toEqual([
      { ...items[0], pairedItem: { item: 0 } },
      { json: { n: 2 }, pairedItem: { item: 1 } },
    ]);
  });

  it.each<[string, unknown]>([
    ['{"status":"shipped"}', { status: 'shipped' }],
    ['={{ { n: $json.n + 1 } }}', { n: 2 }],
    ['={{ JSON.stringify({ n: $json.n }) }}', { n: 1 }],
    ['[1,2]', [1, 2]],
    ['"text"', 'text'],
    ['null', null],
  ])('answers with the JSON %s', async (responseBody, expected) => {
    const { responses } = await run({
      parameters: { respondWith: 'json', responseBody },
      items: [{ json: { n: 1 } }, { json: { n: 9 } }],
    });
    expect(responses).toEqual([jsonResponse(200, JSON.stringify(expected))]);
  });

  it('answers with a text as a message', async () => {
    const { responses } = await run({
      parameters: { respondWith: 'text', message: '={{ "Order " + $json.id }}' },
      items: [{ json: { id: 'A-1042' } }],
    });
    expect(responses).toEqual([jsonResponse(200, '{"message":"Order A-1042"}')]);
  });

  it('reports that it could not be done, with a status that the service does not repeat', async () => {
    const { responses, output } = await run({
      parameters: { respondWith: 'text', message: 'No such order', options: { isFailed: true } },
    });
    expect(responses).toEqual([jsonResponse(422, '{"message":"No such order"}')]);
    expect(output).toHaveLength(1);
  });

  it.each<[string, Run, RegExp]>([
    [
      'invalid JSON',
      { parameters: { respondWith: 'json', responseBody: '{"a":' } },
      /"Response Body" is not valid JSON/,
    ],
    [
      'an empty message',
      { parameters: { respondWith: 'text', message: '={{ "" }}' } },
      /message of the response is empty/,
    ],
    [
      'more than the service reads',
      { items: [{ json: { text: 'x'.repeat(1024 * 1024) } }] },
      /larger than 1 MB/,
    ],
    [
      'a workflow that was not started by a tool call',
      { start: 'Other' },
      /not started by a tool call/,
    ],
    [
      'a workflow without an agent call trigger',
      { start: 'Other', isToolTriggerConnected: false },
      /not started by a tool call/,
    ],
    [
      'a trigger that answers with the last node',
      { responseMode: 'lastNode' },
      /"Trigger" does not wait for this response/,
    ],
    [
      'a trigger that answers at once',
      { responseMode: 'onReceived' },
      /"Trigger" does not wait for this response/,
    ],
  ])('fails clearly and answers nothing: %s', async (_what, options, message) => {
    expect(await failureOf(run(options))).toMatchObject({
      name: 'NodeOperationError',
      message: expect.stringMatching(message),
      description: expect.stringMatching(/./),
      context: { itemIndex: 0 },
    });
  });

  it('makes one item of its error when told to go on', async () => {
    const { responses, output } = await run({
      start: 'Other',
      items: [{ json: {} }, { json: {} }],
      node: { onError: 'continueRegularOutput' },
    });
    expect(responses).toEqual([]);
    expect(output).toEqual([
      {
        json: {
          error: expect.stringContaining('not started by a tool call'),
          details: { fix: expect.stringContaining('"Execute step"') },
        },
        pairedItem: { item: 0 },
      },
    ]);
  });
});
