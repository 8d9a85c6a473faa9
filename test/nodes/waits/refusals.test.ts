import { describe, expect, it } from '@jest/globals';
import type { INode } from 'n8n-workflow';
import { ACTION_TOOL, actionNode, AGENT_TRIGGER, failureOf, TOOL_TRIGGER } from '../helpers/n8n.ts';
import { byId } from '../helpers/actions.ts';
import { runFromTrigger } from '../helpers/runFromTrigger.ts';
import { waitScene } from '../helpers/waitScene.ts';

const scene = waitScene();
const refused = async (options: Parameters<typeof scene.host.wait>[0]) => {
  const { message, description } = await failureOf(scene.host.wait(options));
  return { message, description };
};
const question = { resource: 'approval', parameters: { message: 'Refund?' } } as const;
/** Asks in a workflow that a trigger started, with another node before ours. */
const runFrom = (
  trigger: string,
  triggerParameters: INode['parameters'],
  output: Record<string, unknown>,
  parameters: INode['parameters'] = question.parameters,
) =>
  runFromTrigger({
    credential: { baseUrl: scene.wire.url, apiKey: scene.service.apiKey },
    trigger,
    triggerParameters,
    output,
    between: { order: 'A-1042' },
    resource: 'approval',
    operation: 'sendAndWait',
    parameters,
  });

describe('Before it asks, a waiting operation refuses', () => {
  it('a workflow in which n8n can take an approval for a rejection, and says where to set it', async () => {
    for (const settings of [{}, { executionOrder: 'v0' }])
      expect(await refused({ ...question, settings })).toEqual({
        message: 'This workflow cannot wait: its execution logic is "v0 (legacy)"',
        description: expect.stringContaining('set "Execution Logic" to "v1 (recommended)"'),
      });
  });

  it('a workflow that is the agent and answers by the last node, because n8n would answer before the wait is over', async () => {
    const run = runFrom(AGENT_TRIGGER, {}, { turn_id: 'turn_1' });
    expect(await failureOf(run)).toMatchObject({
      message: 'The trigger "Trigger" answers by the last node, which cannot answer after a wait',
      description: expect.stringContaining('"Using Agent Turn Operations"'),
    });
    expect(scene.wire.seen).toEqual([]);
  });

  const calledAsTool = (mode: INode['parameters'], output: Record<string, unknown> = {}) =>
    runFrom(
      TOOL_TRIGGER,
      { toolName: 'refund', toolDescription: 'Refunds an order.', ...mode },
      { tool_call_id: 'call_1', ...output },
      { message: `Refund, answered by ${mode.responseMode}?` },
    );

  it('a workflow whose tool answers by the last node, and says how the workflow can answer earlier', async () => {
    for (const mode of [{}, { responseMode: 'lastNode' }])
      expect(await failureOf(calledAsTool(mode))).toMatchObject({
        message: 'The trigger "Trigger" answers by the last node, which cannot answer after a wait',
        description: expect.stringMatching(
          /"Using 'Respond to Tool Call'", and put Tool Call → Respond before this node/,
        ),
      });
    expect(scene.wire.seen).toEqual([]);
  });

  it.each(['onReceived', 'responseNode'])(
    'a call that tests a tool which answers by %s; any other call asks',
    async (responseMode) => {
      const test = { conversation_id: 'conv_test', is_test: true };
      expect(await failureOf(calledAsTool({ responseMode }, test))).toMatchObject({
        message: 'This call only tests the tool: nobody is asked',
        description: expect.stringMatching(/^To try it for real, .*chat page/),
      });
      expect(scene.wire.seen).toEqual([]);
      await calledAsTool({ responseMode });
      expect(await scene.newest()).toMatchObject({
        message: `Refund, answered by ${responseMode}?`,
        status: 'open',
      });
    },
  );

  it('an unknown turn: the error names the one that started the execution, whatever node is between', async () => {
    const turnId = 'turn_01JD6Z0000000000000000000A';
    const run = runFrom(AGENT_TRIGGER, { responseMode: 'onReceived' }, { turn_id: turnId });
    const { message, context } = await failureOf(run);
    expect(message).toContain(turnId);
    expect(context.code).toBe('not_found');
  });

  it('to be a tool of an AI agent, because n8n would not let that agent go on', async () => {
    expect(await refused({ ...question, type: ACTION_TOOL })).toEqual({
      message: 'A tool of an AI agent cannot wait',
      description: expect.stringContaining('human review'),
    });
  });

  it.each([
    ['the message of a question', 'approval', { message: '={{ { order: 1 } }}' }, 'The message'],
    ['the text of a message', 'conversation', { text: '={{ { order: 1 } }}' }, 'The text'],
    [
      'a choice',
      'conversation',
      { text: 'Which?', accept: 'choice', choices: '={{ [{ size: "S" }] }}' },
      'A line of "Choices"',
    ],
  ] as const)('an object as %s', async (_what, resource, parameters, subject) => {
    const { id } = await scene.open();
    const asked = { resource, parameters: { ...byId(id), ...parameters } };
    expect(await refused(asked)).toEqual({
      message: `${subject} is an object, not a text`,
      description: expect.stringContaining('Name its field'),
    });
  });

  it.each([
    ['the message of a question', 'approval', { message: '=Refund {{ $json }}?' }, 'The message'],
    [
      'a reminder',
      'conversation',
      { text: 'Which?', options: { remindAfterMinutes: 5, reminderText: '=Still {{ $json }}?' } },
      'The reminder text',
    ],
    [
      'a retry',
      'conversation',
      { text: 'Which?', options: { retryText: '=No {{ $json }}' } },
      'The retry text',
    ],
    [
      'a choice',
      'conversation',
      { text: 'Which?', accept: 'choice', choices: '=S\n{{ $json }}' },
      'A line of "Choices"',
    ],
  ] as const)('%s that contains [object Object]', async (_what, resource, parameters, subject) => {
    const { id } = await scene.open();
    const asked = { resource, parameters: { ...byId(id), ...parameters } };
    expect(await refused(asked)).toEqual({
      message: `${subject} contains [object Object]: an expression in it is an object, not a text`,
      description: expect.stringContaining('Name its field'),
    });
  });

  it('more items than one, unless the node looks at the first only', async () => {
    const input = [{}, {}];
    expect(await refused({ ...question, input })).toEqual({
      message: 'This node got 2 items, but can wait for one only',
      description: expect.stringContaining('Loop Over Items'),
    });
    const waiting = await scene.host.wait({ ...question, input, node: { executeOnce: true } });
    expect(waiting.isWaiting()).toBe(true);
  });

  const rows = [
    { label: 'Order', value: 'A-1042' },
    { label: ' Order', value: 'A-1043' },
  ];
  it.each<[string, INode['parameters']]>([
    ['The message is empty', { message: ' ' }],
    ['Two details have the label "Order"', { detailFields: { values: rows } }],
    ['"Details" is not a JSON object', { specifyDetails: 'json', details: '[1]' }],
    ['"Wait Up To" is not a time of up to 365 days', { timeLimit: 0 }],
    ['"Wait Up To" is not a time of up to 365 days', { timeLimit: 366 }],
    ['"conv_1" is not the ID of an agent turn', { turnId: 'conv_1' }],
  ])('to ask the team: %s %j', async (message, parameters) => {
    const asked = { message: 'Ok?', ...parameters };
    expect(await refused({ resource: 'approval', parameters: asked })).toMatchObject({ message });
    expect(scene.wire.seen).toEqual([]);
  });

  it.each<[string, INode['parameters']]>([
    ['The text of the message is empty', { text: ' ' }],
    ['There are no choices', { text: 'When?', accept: 'choice', choices: '\n' }],
  ])('to ask the customer: %s', async (message, question) => {
    const parameters = { ...byId('conv_1'), ...question };
    expect(await refused({ resource: 'conversation', parameters })).toMatchObject({ message });
    expect(scene.wire.seen).toEqual([]);
  });

  it('a question without a conversation and without a turn, and says where to find one', async () => {
    const { message, description } = await refused({
      resource: 'conversation',
      parameters: { text: 'What is your order number?' },
      input: [{ output: 'From an AI Agent' }],
    });
    expect(message).toBe('The ID of the conversation is empty');
    expect(description).toContain('$("Conversation Service Trigger").item.json.conversation.id');
    expect(description).toContain(
      '$("Conversation Service Agent Trigger").item.json.conversation_id',
    );
    expect(scene.wire.seen).toEqual([]);
  });

  it.each([
    [120, 1, 'hours'],
    [60, 1, 'hours'],
    [5, 5, 'minutes'],
  ])(
    'a reminder after %d minutes where it waits for up to %d %s',
    async (remindAfterMinutes, timeLimit, timeLimitUnit) => {
      const { id } = await scene.open();
      const options = { remindAfterMinutes };
      const parameters = { ...byId(id), text: 'When?', timeLimit, timeLimitUnit, options };
      expect(await refused({ resource: 'conversation', parameters })).toEqual({
        message:
          '"Remind After" is not shorter than "Wait Up To", so the customer would never be reminded',
        description:
          'Enter fewer minutes under "Remind After" in the options, or a longer time under "Wait Up To".',
      });
      expect(scene.wire.seen).toEqual([]);
    },
  );

  it('a second question while the first waits for the customer', async () => {
    const { id } = await scene.open();
    await scene.ask(id);
    const failure = await failureOf(scene.ask(id));
    expect(failure.context.code).toBe('wait_exists');
    expect(failure.description).toMatch(/^[A-Z]/);
  });
});

describe('The panel of a waiting operation', () => {
  it.each(['conversation', 'approval'])(
    'says that %s waits for one item only, where the operation is chosen',
    (resource) => {
      const { properties } = actionNode.description;
      const notices = properties.filter(
        ({ type, displayOptions }) =>
          type === 'notice' &&
          displayOptions?.show?.resource?.includes(resource) &&
          displayOptions.show.operation?.includes('sendAndWait'),
      );
      expect(notices.map(({ displayName }) => displayName)).toContainEqual(
        expect.stringMatching(/waits for one item: .*"Loop Over Items"/),
      );
    },
  );
});
