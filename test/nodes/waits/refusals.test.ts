import { describe, expect, it } from '@jest/globals';
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

describe('Before it asks, a waiting operation refuses', () => {
  it('a workflow in which n8n can take an approval for a rejection, and says where to set it', async () => {
    for (const settings of [{}, { executionOrder: 'v0' }])
      expect(await refused({ ...question, settings })).toEqual({
        message: 'This workflow cannot wait: its execution logic is "v0 (legacy)"',
        description: expect.stringContaining('set "Execution Logic" to "v1 (recommended)"'),
      });
  });

  it('a workflow whose agent answers by the last node, which n8n answers with before the wait is over', async () => {
    const run = runFromTrigger({
      credential: { baseUrl: scene.wire.url, apiKey: 'k' },
      trigger: AGENT_TRIGGER,
      output: { turn_id: 'turn_1' },
      between: {},
      ...question,
      operation: 'sendAndWait',
    });
    expect(await failureOf(run)).toMatchObject({
      message: 'The trigger "Trigger" answers by the last node, which cannot answer after a wait',
      description: expect.stringContaining('"Using Agent Turn Operations"'),
    });
    expect(scene.wire.seen).toEqual([]);
  });

  /** A workflow that a call of its tool started, with another node before ours. */
  const calledAsTool = (responseMode: string | null, output: Record<string, unknown> = {}) =>
    runFromTrigger({
      credential: { baseUrl: scene.wire.url, apiKey: scene.service.apiKey },
      trigger: TOOL_TRIGGER,
      triggerParameters: {
        toolName: 'refund',
        toolDescription: 'Refunds an order.',
        ...(responseMode === null ? {} : { responseMode }),
      },
      output: { tool_call_id: 'call_1', ...output },
      between: {},
      resource: 'approval',
      parameters: { message: `Refund, answered by ${responseMode}?` },
      operation: 'sendAndWait',
    });

  it('a workflow whose tool answers by the last node, and says how it can answer before', async () => {
    for (const mode of [null, 'lastNode'])
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
    async (mode) => {
      expect(
        await failureOf(calledAsTool(mode, { conversation_id: 'conv_test', is_test: true })),
      ).toMatchObject({
        message: 'This call only tests the tool: nobody is asked',
        description: expect.stringMatching(/^To try it for real, .*chat page/),
      });
      expect(scene.wire.seen).toEqual([]);
      await calledAsTool(mode);
      expect(await scene.newest()).toMatchObject({
        message: `Refund, answered by ${mode}?`,
        status: 'open',
      });
    },
  );

  it('an unknown turn: the error names the one that started the execution, whatever node is between', async () => {
    const turnId = 'turn_01JD6Z0000000000000000000A';
    const run = runFromTrigger({
      credential: { baseUrl: scene.wire.url, apiKey: scene.service.apiKey },
      trigger: AGENT_TRIGGER,
      triggerParameters: { responseMode: 'onReceived' },
      output: { turn_id: turnId },
      between: { order: 'A-1042' },
      ...question,
      operation: 'sendAndWait',
    });
    const { message, context } = await failureOf(run);
    expect(message).toContain(turnId);
    expect(context.code).toBe('not_found');
  });

  it('to be a tool of an AI agent, which n8n would not let go on', async () => {
    expect(await refused({ ...question, type: ACTION_TOOL })).toEqual({
      message: 'A tool of an AI agent cannot wait',
      description: expect.stringContaining('human review'),
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

  it('an empty question, no choices, unusable details, a time limit out of range, and a wrong ID', async () => {
    const { id } = await scene.open();
    const messageOf = async (parameters: Record<string, unknown>, resource = 'approval') =>
      (await refused({ resource: resource as 'approval', parameters: parameters as never }))
        .message;
    const ask = (parameters: Record<string, unknown>) =>
      messageOf({ ...byId(id), ...parameters }, 'conversation');
    expect(await messageOf({ message: ' ' })).toBe('The message is empty');
    expect(await ask({ text: ' ' })).toBe('The text of the message is empty');
    expect(await ask({ text: 'When?', accept: 'choice', choices: '\n' })).toBe(
      'There are no choices',
    );
    const rows = [
      { label: 'Order', value: 'A-1042' },
      { label: ' Order', value: 'A-1043' },
    ];
    expect(await messageOf({ message: 'Ok?', detailFields: { values: rows } })).toBe(
      'Two details have the label "Order"',
    );
    expect(await messageOf({ message: 'Ok?', specifyDetails: 'json', details: '[1]' })).toBe(
      '"Details" is not a JSON object',
    );
    for (const timeLimit of [0, 366])
      expect(await messageOf({ message: 'Ok?', timeLimit })).toBe(
        '"Wait Up To" is not a time of up to 365 days',
      );
    expect(await messageOf({ message: 'Ok?', turnId: 'conv_1' })).toBe(
      '"conv_1" is not the ID of an agent turn',
    );
    expect(scene.wire.seen).toEqual([]);
  });

  it('a question without a conversation and without a turn, and says where to find one', async () => {
    const parameters = { text: 'What is your order number?' };
    const input = [{ output: 'From an AI Agent' }];
    const { message, description } = await refused({
      resource: 'conversation',
      parameters,
      input,
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
