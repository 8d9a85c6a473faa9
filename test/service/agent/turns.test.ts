// One turn of the agent: what the model is asked, which tools are called, and when it answers.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { text, toolCalls } from '../../helpers/modelServer.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  answers,
  held,
  inOrder,
  resultsIn,
  startAgentService,
  type AgentService,
} from './agentService.ts';

const FAILED = 'I could not do that right now. Would you like a person to follow up?';
const FIND_A1 = toolCalls({ name: 'find_order', arguments: { number: 'A-1' } });

describe('a turn of the agent', () => {
  let agent: AgentService;
  let receiver: EventReceiver;
  const order = {
    type: 'object',
    properties: { number: { type: 'string' } },
    required: ['number'],
    additionalProperties: false,
  };

  beforeAll(async () => {
    receiver = await startEventReceiver();
    agent = await startAgentService({ ca: receiver.ca });
    await receiver.subscribe(agent.service, 'message.sent');
    await agent.tool('find_order', { parameters: order });
    await agent.tool('find_stock');
  });
  beforeEach(() => agent.reset());
  afterEach(() => expect(agent.model.faults).toEqual([]));
  afterAll(async () => {
    await agent?.close();
    await receiver?.close();
  });

  it('answers with what the model says, and emits message.sent as the agent', async () => {
    agent.model.answerBy(inOrder(text('It is open until eight.')));
    const talk = await agent.talk('When are you open?', { name: 'Ana' });
    expect(await talk.reply()).toBe('It is open until eight.');
    const sent = await waitFor('message.sent', () =>
      receiver.payloads('message.sent').find(({ conversation }) => conversation.id === talk.id),
    );
    expect(sent).toMatchObject({
      conversation: {
        id: talk.id,
        status: 'ai_active',
        message_count: 2,
        contact_name: 'Ana',
        funnel_stage: 'new',
      },
      message: {
        direction: 'outbound',
        sender: { type: 'agent', name: 'Assistant' },
        text: 'It is open until eight.',
      },
    });
    expect(sent.conversation.agent_id).toBe((await agent.service.api.get('/api/agent')).body.id);
    expect(agent.asked()).toEqual([[{ role: 'user', content: 'When are you open?' }]]);
    expect(receiver.faults).toEqual([]);
  });

  it('calls a tool and replies with its result', async () => {
    agent.model.answerBy(inOrder(FIND_A1, text('It has shipped.')));
    agent.tools.on('find_order', answers({ state: 'shipped' }));
    const talk = await agent.talk('Where is A-1?');
    expect(await talk.reply()).toBe('It has shipped.');
    expect(agent.tools.calls).toEqual([
      {
        tool_call_id: expect.stringMatching(/^call_/),
        tool: 'find_order',
        arguments: { number: 'A-1' },
        conversation_id: talk.id,
      },
    ]);
    const [call] = await talk.calls();
    expect(call).toMatchObject({ status: 'succeeded', attempts: 1, result: { state: 'shipped' } });
    expect(agent.asked()[1]).toEqual([
      { role: 'user', content: 'Where is A-1?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: call.tool_call_id,
            type: 'function',
            function: { name: 'find_order', arguments: '{"number":"A-1"}' },
          },
        ],
      },
      {
        role: 'tool',
        tool_call_id: call.tool_call_id,
        content: '{"status":"succeeded","result":{"state":"shipped"}}',
      },
    ]);
  });

  it('makes parallel calls in one step, waits for all, and gives each result under its own call', async () => {
    agent.model.answerBy(
      inOrder(
        toolCalls([{ name: 'find_order', arguments: { number: 'A-1' } }, { name: 'find_stock' }]),
        text('Both.'),
      ),
    );
    const slow = held(answers({ stock: 3 }));
    agent.tools.on('find_order', answers({ state: 'shipped' }));
    agent.tools.on('find_stock', slow.reply);
    const talk = await agent.talk('Where is A-1, and is there more?');
    await talk.call(({ status }) => status === 'succeeded');
    await slow.asked;
    expect(agent.asked()).toHaveLength(1);
    await slow.give();
    expect(await talk.reply()).toBe('Both.');
    const [, step, first, second] = agent.asked()[1]!;
    const results = new Map(
      [first, second].map((message) => [
        message!.tool_call_id,
        JSON.parse(message!.content!).result,
      ]),
    );
    expect(step!.tool_calls!.map(({ id, function: { name } }) => [name, results.get(id)])).toEqual([
      ['find_order', { state: 'shipped' }],
      ['find_stock', { stock: 3 }],
    ]);
    expect(agent.asked()).toHaveLength(2);
  });

  it.each([
    ['text that is no JSON', '{"number": '],
    ['arguments that break the schema', '{"number": 7}'],
    ['a list', '["A-1"]'],
    ['arguments nested without end', `{"number": ${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
  ])(
    'tells the model of %s, sends nothing, and lets it correct itself',
    async (_what, malformed) => {
      agent.model.answerBy(
        inOrder(toolCalls({ name: 'find_order', arguments: malformed }), FIND_A1, text('Found.')),
      );
      agent.tools.on('find_order', answers({ state: 'shipped' }));
      const talk = await agent.talk('Where is A-1?');
      expect(await talk.reply()).toBe('Found.');
      expect(agent.tools.calls.map((call) => call.arguments)).toEqual([{ number: 'A-1' }]);
      expect(resultsIn(agent.asked()[1]!)).toEqual([
        { status: 'invalid', message: expect.any(String) },
      ]);
      expect((await talk.calls()).map(({ status, attempts }) => [status, attempts])).toEqual([
        ['failed', 0],
        ['succeeded', 1],
      ]);
    },
  );

  it('says that a call failed although another call of the same step succeeded', async () => {
    const [wrong, right] = [7, 'A-1'].map((number) => ({
      name: 'find_order',
      arguments: { number },
    }));
    agent.model.answerBy(inOrder(toolCalls([wrong!, right!]), text('A-1 is shipped.')));
    agent.tools.on('find_order', answers({ state: 'shipped' }));
    const talk = await agent.talk('Where are 7 and A-1?');
    expect(await talk.reply()).toBe(`A-1 is shipped.\n\n${FAILED}`);
  });

  it('tells the model that there is no such tool', async () => {
    // Its name is cut to 64, here in the middle of a character, which PostgreSQL would refuse.
    const name = `${'launch_'.repeat(9)}🚀`;
    agent.model.answerBy(inOrder(toolCalls({ name }), text('That I cannot do.')));
    const talk = await agent.talk('Launch it');
    expect(await talk.reply()).toBe(`That I cannot do.\n\n${FAILED}`);
    expect(resultsIn(agent.asked()[1]!)).toEqual([
      { status: 'invalid', message: 'There is no such tool. Use one of those that are listed.' },
    ]);
    expect((await talk.calls()).map(({ tool }) => tool)).toEqual(['launch_'.repeat(9) + '\ufffd']);
    expect(agent.tools.calls).toEqual([]);
  });

  it('does not make the same call twice in a turn, and makes it again in the next', async () => {
    agent.model.answerBy(
      inOrder(FIND_A1, FIND_A1, text('Shipped.'), FIND_A1, text('Still shipped.')),
    );
    agent.tools.on('find_order', answers({ state: 'shipped' }));
    const talk = await agent.talk('Where is A-1?');
    await talk.reply();
    expect(agent.tools.calls).toHaveLength(1);
    expect(resultsIn(agent.asked()[2]!)[1]).toEqual({
      status: 'invalid',
      message: 'The same call was made already; use its result.',
    });
    await talk.write('And now?');
    expect(await talk.reply(2)).toBe('Still shipped.');
    expect(agent.tools.calls).toHaveLength(2);
  });

  it('makes one of two equal calls in one step', async () => {
    const call = { name: 'find_order', arguments: { number: 'A-1' } };
    agent.model.answerBy(inOrder(toolCalls([call, call]), text('Shipped.')));
    const talk = await agent.talk('Where is A-1?');
    await talk.reply();
    expect(agent.tools.calls).toHaveLength(1);
    expect((await talk.calls()).map(({ status }) => status).sort()).toEqual([
      'failed',
      'succeeded',
    ]);
  });

  it('makes at most eight calls in a turn, then offers no tool and takes a reply', async () => {
    let number = 0;
    agent.model.answerBy(({ body }) =>
      body.tools!.some((tool) => tool.function.name === 'find_order')
        ? toolCalls({ name: 'find_order', arguments: { number: String(++number) } })
        : text('That is what I found.'),
    );
    const talk = await agent.talk('Find all orders');
    expect(await talk.reply()).toBe('That is what I found.');
    expect(agent.tools.calls).toHaveLength(8);
    expect(agent.asked()).toHaveLength(9);
  });

  it('makes eight of twelve parallel calls', async () => {
    const twelve = Array.from({ length: 12 }, (_, number) => ({
      name: 'find_order',
      arguments: { number: String(number) },
    }));
    agent.model.answerBy(inOrder(toolCalls(twelve), text('Enough.')));
    const talk = await agent.talk('Find all orders');
    expect(await talk.reply()).toBe(`Enough.\n\n${FAILED}`); // four of them were not made
    expect(agent.tools.calls).toHaveLength(8);
    expect(resultsIn(agent.asked()[1]!).filter(({ status }) => status === 'invalid')).toHaveLength(
      4,
    );
  });

  it('hands over when the model asks for a ninth call', async () => {
    let number = 0;
    agent.tools.on('find_order', answers({ state: 'shipped' }));
    agent.model.answerBy(() =>
      toolCalls({ name: 'find_order', arguments: { number: String(++number) } }),
    );
    const talk = await agent.talk('Find all orders');
    expect(await talk.reply()).toBe(
      'This is the result:\nState: shipped\n\nSorry, something went wrong on our side. A person will follow up and write to you here.',
    );
    expect(await talk.record()).toMatchObject({
      status: 'awaiting_human',
      handover: { reason: 'agent_error' },
    });
    expect(agent.tools.calls).toHaveLength(8);
  });

  it('cuts a reply that is longer than a message may be', async () => {
    agent.model.answerBy(inOrder(text('This is a sentence. '.repeat(500))));
    const talk = await agent.talk('Tell me all');
    expect(await talk.reply()).toMatch(/^(This is a sentence\. ?)+$/);
    expect((await talk.reply()).length).toBeGreaterThan(4000);
    expect((await talk.reply()).length).toBeLessThanOrEqual(4096);
  });
});

describe('when customers write several messages', () => {
  /** Longer than any test takes. A test moves the clock when this time is to be over. */
  const LONG_QUIET_MS = 60_000;
  let agent: AgentService;
  let aheadMs = 0;
  beforeAll(async () => {
    agent = await startAgentService({
      clock: { now: () => new Date(Date.now() + aheadMs) },
      env: { AGENT_QUIET_MS: String(LONG_QUIET_MS) },
    });
    await agent.tool('find_stock');
  });
  beforeEach(() => agent.reset());
  afterAll(() => agent?.close());

  const passQuietTime = () => void (aheadMs += LONG_QUIET_MS);
  /** The last message of each request: all that the customer wrote since the last reply. */
  const lastWords = () => agent.asked().map((messages) => messages.at(-1)!.content);

  it('answers five messages in a row with one reply that saw them all', async () => {
    const talk = await agent.talk('one');
    for (const words of ['two', 'three', 'four', 'five']) await talk.write(words);
    passQuietTime();
    await talk.reply();
    expect(lastWords()).toEqual(['one\n\ntwo\n\nthree\n\nfour\n\nfive']);
    expect((await talk.record()).message_count).toBe(6);
  });

  it('drops a reply when another message comes before it, and answers both messages with one', async () => {
    const stale = held(text('To the first.'));
    agent.model.answerBy(inOrder(stale.reply, text('To both.')));
    const talk = await agent.talk('first');
    passQuietTime();
    await stale.asked;
    await talk.write('second');
    await stale.give();
    await talk.turns(1);
    passQuietTime();
    expect(await talk.turns(2)).toMatchObject([{ used: false }, { used: true }]);
    expect(await talk.replies()).toEqual(['To both.']);
    expect(lastWords()).toEqual(['first', 'first\n\nsecond']);
  });

  it('drops a stale reply that comes after the fresh one', async () => {
    const stale = held(text('To the first.'));
    agent.model.answerBy(inOrder(stale.reply, text('To both.')));
    const talk = await agent.talk('first');
    passQuietTime();
    await stale.asked;
    await talk.write('second');
    passQuietTime();
    await talk.reply();
    await stale.give();
    expect(await talk.turns(2)).toMatchObject([{ used: true }, { used: false }]);
    expect(await talk.replies()).toEqual(['To both.']);
  });

  it('answers with one reply what was written while a tool call ran', async () => {
    const slow = held(answers({ stock: 3 }));
    agent.tools.on('find_stock', slow.reply);
    agent.model.answerBy(inOrder(toolCalls({ name: 'find_stock' }), text('Three, and yes.')));
    const talk = await agent.talk('how many?');
    passQuietTime();
    await slow.asked;
    await talk.write('and in blue?');
    const other = await agent.talk('another customer');
    passQuietTime();
    await other.reply();
    expect(agent.asked()).toHaveLength(2);
    await slow.give();
    expect(await talk.reply()).toBe('Three, and yes.');
    expect(agent.asked()[2]!.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'how many?'],
      ['assistant', null],
      ['tool', '{"status":"succeeded","result":{"stock":3}}'],
      ['user', 'and in blue?'],
    ]);
    expect(await talk.replies()).toHaveLength(1);
  });
});
