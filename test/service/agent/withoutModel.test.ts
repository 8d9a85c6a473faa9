// The built-in keyword agent in the loop: from a customer's words to a tool on a real server and
// back.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MEMBER_ENV, signedInBrowser } from '../../helpers/browserless.ts';
import {
  answers,
  held,
  KEYWORD_ONLY,
  startAgentService,
  type AgentService,
  type Talk,
} from './agentService.ts';

describe('the keyword agent', () => {
  let agent: AgentService;
  beforeAll(async () => {
    agent = await startAgentService({ env: { ...KEYWORD_ONLY, ...MEMBER_ENV } });
    const parameters = {
      type: 'object',
      properties: { order_number: { type: 'string', description: 'order number' } },
      required: ['order_number'],
    };
    await agent.tool('find_order', {
      description: 'Finds an order by its number and says where it is.',
      parameters,
      example_phrases: ['where is my order'],
    });
    await agent.tool('cancel_order', {
      description: 'Cancels an order by its number.',
      parameters,
      ask_before_running: true,
      read_only: false,
    });
    await agent.tool('opening_hours', { description: 'Opening hours of the shop.' });
  });
  beforeEach(() => {
    agent.reset();
    agent.tools.on('find_order', answers({ message: 'It has shipped.' }));
    agent.tools.on('cancel_order', answers({ message: 'Order A-1042 was cancelled.' }));
  });
  afterAll(() => agent?.close());

  it('asks for what is missing, calls the tool with it, and passes on the tool’s answer', async () => {
    const talk = await agent.talk('where is my order?');
    expect(await talk.reply()).toContain('order number');
    await talk.write('A-1042');
    expect(await talk.reply(2)).toBe('It has shipped.');
    expect(agent.tools.calls.map((call) => call.arguments)).toEqual([{ order_number: 'A-1042' }]);
  });

  it('says that a call failed, and hands over on a yes', async () => {
    agent.tools.on('find_order', answers({}, 404));
    const talk = await agent.talk('find order A-1042');
    expect(await talk.reply()).toBe(
      'I could not do that right now. Would you like a person to follow up?',
    );
    await talk.write('yes please');
    await talk.reply(2);
    expect(await talk.record()).toMatchObject({
      status: 'awaiting_human',
      handover: { reason: 'tool_failure' },
    });
  });

  it('says once that a call waits, and once how it ended', async () => {
    const talk = await agent.talk('cancel order A-1042');
    expect(await talk.reply()).toBe('Shall I cancel order A-1042? Please answer yes or no.');
    expect(await talk.calls()).toEqual([]);
    await talk.write('yes');
    expect(await talk.reply(2)).toBe(
      'A colleague has to confirm this first. I will write as soon as it is decided.',
    );
    await talk.decide('approve');
    expect(await talk.reply(3)).toBe('Order A-1042 was cancelled.');
    await talk.write('thanks');
    await talk.reply(4);
    expect((await talk.replies()).filter((words) => words.includes('was cancelled'))).toHaveLength(
      1,
    );
  });

  it('answers a message that arrives during a call together with the result of the call', async () => {
    const slow = held(answers({ message: 'It has shipped.' }));
    agent.tools.on('find_order', slow.reply);
    const talk = await agent.talk('find order A-1042');
    await slow.asked;
    await talk.write('thank you');
    await slow.give();
    expect(await talk.reply()).toContain('It has shipped.');
    expect(agent.tools.calls).toHaveLength(1);
  });

  describe('answers what a customer asks', () => {
    const HOURS = 'What are your opening hours?';
    const CANCELLED = 'Order A-1042 was cancelled.';
    beforeEach(() => agent.tools.on('opening_hours', answers({ message: 'From 9 to 5.' })));

    async function awaitingApproval(): Promise<Talk> {
      const talk = await agent.talk('cancel order A-1042');
      await talk.reply();
      await talk.write('yes');
      await talk.reply(2);
      return talk;
    }

    it('while an approved call runs, once it has ended', async () => {
      const slow = held(answers({ message: CANCELLED }));
      agent.tools.on('cancel_order', slow.reply);
      const talk = await awaitingApproval();
      await talk.decide('approve');
      await slow.asked;
      await talk.write(HOURS);
      await slow.give();
      expect(await talk.reply(3)).toBe(`${CANCELLED}\n\nFrom 9 to 5.`);
    });

    it('while a person is in control, after the hand-back', async () => {
      const talk = await awaitingApproval();
      await talk.act('takeover');
      await talk.write(HOURS);
      await talk.decide('approve');
      await talk.call(({ status }) => status === 'succeeded');
      await talk.act('handback');
      expect(await talk.reply(3)).toBe(`${CANCELLED}\n\nFrom 9 to 5.`);
    });

    it.each(['before', 'after'])(
      'while a person is awaited, after the hand-back, with a result told %s it',
      async (when) => {
        const talk = await awaitingApproval();
        await talk.write('I want to talk to a person');
        await talk.reply(3);
        if (when === 'after') await talk.write(HOURS);
        await talk.decide('approve');
        expect(await talk.reply(4)).toBe(CANCELLED);
        if (when === 'before') await talk.write(HOURS);
        await talk.act('handback');
        expect(await talk.reply(5)).toBe('From 9 to 5.');
      },
    );
  });

  it.each([
    ['waits for the team when nobody has told them of a result', true],
    ['waits for nobody when a member has told them of the result', false],
  ])('that is off leaves a hand-back to the team: the customer %s', async (_what, isWaiting) => {
    const talk = await agent.talk('cancel order A-1042');
    await talk.reply();
    await talk.write('yes');
    await talk.reply(2);
    const browser = await signedInBrowser(agent.service.url);
    const page = `/conversations/${talk.id}`;
    await browser.get(page);
    await browser.post(`${page}/take-over`);
    await talk.decide('approve');
    await talk.call(({ status }) => status === 'succeeded');
    if (!isWaiting) await browser.post(`${page}/reply`, { text: 'It is cancelled.' });
    await agent.service.api.patch('/api/agent', { enabled: false });
    try {
      await talk.act('handback');
      const { html } = await browser.get('/conversations?tab=waiting');
      expect(html.includes(page)).toBe(isWaiting);
    } finally {
      await agent.service.api.patch('/api/agent', { enabled: true });
    }
  });

  it('does not call what the customer declined, whatever they say afterwards', async () => {
    const talk = await agent.talk('cancel order A-1042');
    await talk.reply();
    await talk.write('no');
    expect(await talk.reply(2)).toBe('All right. Write to me if you need anything else.');
    await talk.write('yes');
    await talk.reply(3);
    expect(await talk.calls()).toEqual([]);
  });

  it('does not close on a farewell while a colleague has to decide for a workflow', async () => {
    const talk = await agent.talk('hello');
    await talk.reply();
    const { body: wait } = await agent.service.api.post('/api/waits', {
      kind: 'decision',
      conversation_id: talk.id,
      message: 'Refund 49 EUR?',
      resume_url: `http://127.0.0.1:${agent.tools.port}/resume`,
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    });
    await talk.write('thanks, bye');
    expect(await talk.reply(2)).toBe('You are welcome. Write to me if you need anything else.');
    expect(await talk.record()).toMatchObject({ status: 'ai_active' });
    await agent.service.api.post(`/api/waits/${wait.id}/cancel`);
    await talk.write('bye');
    await talk.reply(3);
    expect(await talk.record()).toMatchObject({ status: 'closed' });
  });

  it('hands over on a phrase of the workspace', async () => {
    await agent.service.api.patch('/api/agent', { handover_phrases: ['call the captain'] });
    const talk = await agent.talk('Please call the captain!');
    await talk.reply();
    expect(await talk.record()).toMatchObject({ handover: { reason: 'customer_request' } });
  });

  it('hands over what it does not understand', async () => {
    const talk = await agent.talk('the quarterly synergy of paradigms');
    await talk.reply();
    expect(await talk.record()).toMatchObject({
      status: 'awaiting_human',
      handover: { reason: 'missing_knowledge' },
    });
  });
});
