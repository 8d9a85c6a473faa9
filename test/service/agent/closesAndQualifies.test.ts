import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { text, toolCalls } from '../../helpers/modelServer.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { held, inOrder, startAgentService, type AgentService, type Talk } from './agentService.ts';

describe('a model that closes and qualifies', () => {
  let agent: AgentService;
  let receiver: EventReceiver;
  beforeAll(async () => {
    receiver = await startEventReceiver();
    agent = await startAgentService({ ca: receiver.ca });
    for (const event of ['conversation.closed', 'conversation.qualified', 'message.sent'] as const)
      await receiver.subscribe(agent.service, event);
    await agent.tool('find_stock');
    await agent.tool('refund', { ask_before_running: true });
  });
  beforeEach(() => agent.reset());
  afterAll(async () => {
    await agent?.close();
    await receiver?.close();
  });
  const eventOf = ({ id }: Talk, event: string) =>
    waitFor(event, () =>
      receiver.payloads(event).find(({ conversation }) => conversation.id === id),
    );
  const qualify = { name: 'mark-qualified' };

  it('closes with its verdict and summary after its last words', async () => {
    agent.model.answerBy(
      inOrder(
        toolCalls({
          name: 'close-conversation',
          arguments: { verdict: 'goal_reached', summary: 'Bought a lamp.', message: 'Goodbye!' },
        }),
      ),
    );
    const talk = await agent.talk('thanks, that was all');
    expect(await talk.reply()).toBe('Goodbye!');
    const closed = await eventOf(talk, 'conversation.closed');
    expect(closed).toMatchObject({
      conversation: { status: 'closed', message_count: 2 },
      outcome: {
        verdict: 'goal_reached',
        summary: 'Bought a lamp.',
        closed_by: { type: 'agent', name: 'Assistant' },
      },
    });
    expect((await eventOf(talk, 'message.sent')).conversation.status).toBe('ai_active');
    const next = await talk.customer.write('one more');
    expect(next.conversation_id).not.toBe(talk.id);
  });

  it('qualifies once, forward only', async () => {
    agent.model.answerBy(inOrder(toolCalls([qualify], 'Great!')));
    const talk = await agent.talk('I want to buy a hundred');
    await talk.reply();
    expect(await eventOf(talk, 'conversation.qualified')).toMatchObject({
      funnel: { stage: 'qualified', previous_stage: 'new' },
      conversation: { funnel_stage: 'qualified' },
    });
    await talk.write('really');
    await talk.reply(2);
    await agent.service.api.patch(talk.path, { funnel_stage: 'customer' });
    await talk.write('and more');
    await talk.reply(3);
    expect(await talk.record()).toMatchObject({ funnel_stage: 'customer' });
    await agent.service.api.patch(talk.path, { funnel_stage: 'lost' });
    await talk.write('still there?');
    await talk.reply(4);
    expect(await talk.record()).toMatchObject({ funnel_stage: 'lost' });
    await talk.act('close');
    await eventOf(talk, 'conversation.closed');
    expect(
      receiver
        .payloads('conversation.qualified')
        .filter(({ conversation }) => conversation.id === talk.id),
    ).toHaveLength(1);
  });

  it('stays open while a call waits for approval: the customer was promised word of it', async () => {
    const close = {
      name: 'close-conversation',
      arguments: { verdict: 'goal_reached', summary: 'Refund asked.', message: 'Bye!' },
    };
    agent.model.answerBy(inOrder(toolCalls({ name: 'refund' }), toolCalls(close), text('Done.')));
    const talk = await agent.talk('please refund me');
    await talk.reply();
    await talk.write('thanks, bye');
    expect(await talk.reply(2)).toBe('Bye!');
    expect(await talk.record()).toMatchObject({ status: 'ai_active', pending_approvals: 1 });
    await talk.decide('approve');
    expect(await talk.reply(3)).toBe('Done.');
  });

  it.each(['reply', 'decision'])(
    'stays open when a workflow asks while the model is thinking: a %s',
    async (kind) => {
      const goodbye = held(
        toolCalls({
          name: 'close-conversation',
          arguments: { verdict: 'goal_reached', summary: 'All done.', message: 'Bye!' },
        }),
      );
      agent.model.answerBy(() => goodbye.reply);
      const talk = await agent.talk('thanks, bye');
      await goodbye.asked;
      const { status, body: wait } = await agent.service.api.post('/api/waits', {
        kind,
        conversation_id: talk.id,
        message: 'Which day suits you?',
        resume_url: receiver.url,
      });
      expect(status).toBe(201);
      await goodbye.give();
      expect(await talk.reply()).toBe('Bye!');
      expect(await talk.record()).toMatchObject({ status: 'ai_active' });
      expect((await agent.service.api.get(`/api/waits/${wait.id}`)).body.status).toBe('open');
    },
  );

  it('qualifies beside a tool call too', async () => {
    agent.model.answerBy(inOrder(toolCalls([qualify, { name: 'find_stock' }]), text('Three.')));
    const talk = await agent.talk('I want to buy a hundred');
    await talk.reply();
    expect(await talk.record()).toMatchObject({ funnel_stage: 'qualified', status: 'ai_active' });
    expect(agent.tools.calls).toHaveLength(1);
  });

  it('qualifies beside a hand-over too', async () => {
    const handOver = { name: 'hand-over', arguments: { reason: 'customer_request' } };
    agent.model.answerBy(inOrder(toolCalls([qualify, handOver])));
    const talk = await agent.talk('I want to buy a hundred');
    await talk.reply();
    expect(await talk.record()).toMatchObject({
      funnel_stage: 'qualified',
      status: 'awaiting_human',
    });
    await eventOf(talk, 'conversation.qualified');
  });

  it('is asked again for a reply when it only qualified', async () => {
    agent.model.answerBy(inOrder(toolCalls(qualify), text('Great!')));
    const talk = await agent.talk('I want to buy a hundred');
    expect(await talk.reply()).toBe('Great!');
    expect(await talk.record()).toMatchObject({ funnel_stage: 'qualified' });
  });
});
