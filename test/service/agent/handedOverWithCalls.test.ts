// A conversation is handed over while calls run or wait: the customer gets a person at once, and
// hears how the calls ended.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { text, toolCalls } from '../../helpers/modelServer.ts';
import {
  answers,
  held,
  inOrder,
  resultsIn,
  startAgentService,
  type AgentService,
} from './agentService.ts';

const ON_REQUEST = 'Of course. I am passing you to a person, who will write to you here.';
const WAITING = 'A colleague has to confirm this first. I will write as soon as it is decided.';
const NOT_DONE =
  'What you asked me for earlier could not be done. The person who writes to you here will see it.';

describe('calls of a conversation that was handed over', () => {
  let agent: AgentService;

  beforeAll(async () => {
    agent = await startAgentService();
    await agent.tool('cancel');
    await agent.tool('refund', { ask_before_running: true });
    await agent.tool('find_by_email', {
      parameters: {
        type: 'object',
        properties: { email: { type: 'string', format: 'email' }, phone: { type: 'string' } },
      },
    });
  });
  beforeEach(() => agent.reset());
  afterAll(() => agent?.close());

  it('a customer who asks for a person does not wait for a running call, and hears of it afterwards', async () => {
    const slow = held(answers({ message: 'Subscription S-77 is cancelled.' }));
    agent.tools.on('cancel', slow.reply);
    agent.model.answerBy(inOrder(toolCalls({ name: 'cancel' }), text('unused')));
    const talk = await agent.talk('Cancel my subscription S-77');
    await slow.asked;
    await talk.write('I want to talk to a person');
    expect(await talk.reply()).toBe(ON_REQUEST);
    expect(await talk.record()).toMatchObject({
      status: 'awaiting_human',
      handover: { reason: 'customer_request' },
    });
    await slow.give();
    expect(await talk.reply(2)).toBe('Subscription S-77 is cancelled.');
    expect(await talk.record()).toMatchObject({ status: 'awaiting_human' });
    expect(agent.asked()).toHaveLength(1);
  });

  it.each([
    ['approve', 'The refund is on its way.'],
    ['reject', NOT_DONE],
  ] as const)('keeps its promise to write once the call is decided: %s', async (decision, told) => {
    agent.tools.on('refund', answers({ message: 'The refund is on its way.' }));
    agent.model.answerBy(
      inOrder(
        toolCalls({ name: 'refund' }),
        toolCalls({ name: 'hand-over', arguments: { reason: 'missing_knowledge' } }),
      ),
    );
    const talk = await agent.talk('Refund my order');
    expect(await talk.reply()).toBe(WAITING);
    await talk.write('How long will it take?');
    await talk.reply(2);
    expect(await talk.record()).toMatchObject({ status: 'awaiting_human', pending_approvals: 1 });
    await talk.write('And still?');
    await talk.decide(decision);
    expect(await talk.reply(3)).toBe(told);
    expect(await talk.record()).toMatchObject({ status: 'awaiting_human' });
  });

  it('says nothing once a person has taken over', async () => {
    const slow = held(answers({ message: 'Cancelled.' }));
    agent.tools.on('cancel', slow.reply);
    agent.model.answerBy(inOrder(toolCalls({ name: 'cancel' })));
    const talk = await agent.talk('Cancel it');
    await slow.asked;
    await talk.write('I want to talk to a person');
    await talk.reply();
    await talk.act('takeover');
    await slow.give();
    await talk.call(({ status }) => status === 'succeeded');
    await (await agent.talk('another customer')).reply();
    expect(await talk.replies()).toEqual([ON_REQUEST]);
  });

  it("gives a tool the contact's own details where the model gives them masked, and shows the model only masks", async () => {
    agent.model.answerBy((request) => {
      const shown =
        /\S+@\S+/.exec(JSON.stringify(request.body.messages.at(-1)))?.[0].replace(/["\\].*$/, '') ??
        '';
      return request.body.messages.length > 2
        ? text('Found.')
        : toolCalls({
            name: 'find_by_email',
            arguments: { email: shown, phone: 'call +54•••••••••34' },
          });
    });
    const talk = await agent.talk('Find my orders, I am maria@example.com', {
      email: 'maria@example.com',
      phone: '+54 9 11 5555 1234',
    });
    expect(await talk.reply()).toBe('Found.');
    expect(agent.tools.calls.at(-1)!.arguments).toEqual({
      email: 'maria@example.com',
      phone: 'call +5491155551234',
    });
    expect(JSON.stringify(agent.asked())).not.toMatch(/maria@|55551234/);
    expect((await talk.calls())[0]!.arguments.email).toMatch(/^m•+@e•+\.com$/);
  });

  it('tells the model that nobody knows whether a call without an answer was done', async () => {
    agent.tools.on('cancel', (res) => void res.destroy());
    agent.model.answerBy(inOrder(toolCalls({ name: 'cancel' }), text('Sorry.')));
    const talk = await agent.talk('Cancel it');
    await talk.reply();
    await talk.write('and now?');
    await talk.reply(2);
    expect(resultsIn(agent.asked().at(-1)!)).toEqual([
      expect.objectContaining({
        status: 'failed',
        message: expect.stringContaining('not known whether it was done'),
      }),
    ]);
  });
});
