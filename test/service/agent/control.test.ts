// Who is in control: what a take-over, a hand-back, a close or a message over the API does to the
// agent.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { text, toolCalls } from '../../helpers/modelServer.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  answers,
  held,
  inOrder,
  startAgentService,
  type AgentService,
  type Talk,
} from './agentService.ts';

/** An automation writes beside the agent. */
const tellOfParcel = ({ service }: AgentService, { path }: Talk) =>
  service.api.post(`${path}/messages`, { text: 'Your parcel has shipped.', pause_agent: false });

const ACTIONS = ['takeover', 'close', 'messages'] as const;

describe('control', () => {
  let agent: AgentService;
  let receiver: EventReceiver;

  beforeAll(async () => {
    receiver = await startEventReceiver();
    agent = await startAgentService({ ca: receiver.ca });
    for (const event of ['message.sent', 'conversation.handed_over', 'message.received'] as const)
      await receiver.subscribe(agent.service, event);
    await agent.tool('find_stock');
    await agent.tool('busy', {
      parameters: { type: 'object', properties: { n: { type: 'string' } } },
    });
  });
  beforeEach(() => agent.reset());
  afterAll(async () => {
    await agent?.close();
    await receiver?.close();
  });

  const eventsOf = ({ id }: Talk, event: string) =>
    receiver.payloads(event).filter(({ conversation }) => conversation.id === id);
  const delivered = (talk: Talk, event: string, count: number) =>
    waitFor(`${count} ${event}`, () =>
      eventsOf(talk, event).length >= count ? eventsOf(talk, event) : null,
    );

  describe('before the agent has looked', () => {
    const QUIET_MS = 60_000;
    let patient: AgentService;
    let aheadMs = 0;
    beforeAll(async () => {
      const clock = { now: () => new Date(Date.now() + aheadMs) };
      patient = await startAgentService({ clock, env: { AGENT_QUIET_MS: String(QUIET_MS) } });
    });
    beforeEach(() => patient.reset());
    afterAll(() => patient?.close());
    const fallsQuiet = () => void (aheadMs += QUIET_MS);

    it('a take-over, a close or a message of the team: the model is never asked', async () => {
      const talks = await Promise.all(ACTIONS.map(() => patient.talk('hello')));
      await Promise.all(talks.map((talk, n) => talk.act(ACTIONS[n]!)));
      const other = await patient.talk('another customer');
      fallsQuiet();
      await other.reply();
      expect(patient.asked().map((messages) => messages[0]!.content)).toEqual(['another customer']);
      for (const talk of talks) expect(await talk.replies()).toEqual([]);
    });

    it('a message beside the agent is no answer: the customer still gets one, and the next turn knows the message', async () => {
      patient.model.answerBy(inOrder(text('Hello there.'), text('Tomorrow.')));
      const talk = await patient.talk('hello');
      await tellOfParcel(patient, talk);
      fallsQuiet();
      expect(await talk.reply()).toBe('Hello there.');
      await talk.write('when will it arrive?');
      fallsQuiet();
      expect(await talk.reply(2)).toBe('Tomorrow.');
      expect(JSON.stringify(patient.asked()[1])).toContain('Your parcel has shipped.');
    });
  });

  it.each(ACTIONS)('%s while the model thinks: its answer is dropped', async (action) => {
    const late = held(text('Too late.'));
    agent.model.answerBy(inOrder(late.reply));
    const talk = await agent.talk('hello');
    await late.asked;
    await talk.act(action);
    await late.give();
    expect(await talk.turns(1)).toEqual([expect.objectContaining({ used: false })]);
    expect(await talk.replies()).toEqual([]);
  });

  it.each(ACTIONS)(
    '%s while a tool call runs: the call is recorded, and nothing is said',
    async (action) => {
      const slow = held(answers({ stock: 3 }));
      agent.tools.on('find_stock', slow.reply);
      agent.model.answerBy(inOrder(toolCalls({ name: 'find_stock' }), text('Too late.')));
      const talk = await agent.talk('how many?');
      await slow.asked;
      await talk.act(action);
      await slow.give();
      expect(await talk.call(({ status }) => status === 'succeeded')).toMatchObject({
        result: { stock: 3 },
      });
      await (await agent.talk('another customer')).reply();
      expect(await talk.replies()).toEqual([]);
      expect(await talk.turns(1)).toHaveLength(1);
    },
  );

  it('a take-over between the decision and the call: nothing is sent, the call is cancelled', async () => {
    // A tool takes sixteen calls at once: the next one is decided upon and waits.
    const gate = Promise.withResolvers<undefined>();
    agent.tools.on(
      'busy',
      (res, call) => void gate.promise.then(() => answers({ ok: true })(res, call)),
    );
    agent.model.answerBy(({ body }) =>
      body.messages.some(({ role }) => role === 'tool')
        ? text('Done.')
        : toolCalls({ name: 'busy', arguments: { n: body.messages.at(-1)!.content } }),
    );
    const others = await Promise.all(
      Array.from({ length: 16 }, (_, n) => agent.talk(`other ${n}`)),
    );
    await waitFor('sixteen calls under way', () => agent.tools.calls.length === 16);
    const taken = await agent.talk('taken');
    const writesOn = await agent.talk('writes on');
    await taken.call(({ status }) => status === 'running');
    await writesOn.call(({ status }) => status === 'running');
    await taken.act('takeover');
    await writesOn.write('and one more thing');
    gate.resolve(undefined);
    expect(await taken.call(({ status }) => status !== 'running')).toMatchObject({
      status: 'cancelled',
      attempts: 0,
    });
    await Promise.all(others.map((talk) => talk.reply()));
    expect(agent.tools.calls.filter(({ conversation_id }) => conversation_id === taken.id)).toEqual(
      [],
    );
    expect(await taken.replies()).toEqual([]);

    // A customer who writes on is told of no failure: the agent decides again, with both messages.
    expect(await writesOn.reply()).toBe('Done.');
    expect((await writesOn.calls()).map(({ status, arguments: { n } }) => [status, n])).toEqual([
      ['cancelled', 'writes on'],
      ['succeeded', 'writes on\n\nand one more thing'],
    ]);
  });

  it('stores what a customer writes while a person is in control, and does not answer', async () => {
    const talk = await agent.talk('hello');
    await talk.reply();
    await talk.act('takeover');
    await talk.write('are you there?');
    await (await agent.talk('another customer')).reply();
    expect(await talk.record()).toMatchObject({ status: 'human_active', message_count: 3 });
    expect(agent.asked()).toHaveLength(2);
  });

  describe('a message beside the agent', () => {
    it('while the model thinks: its answer is sent, control stays, no handed_over', async () => {
      const late = held(text('Three are left.'));
      agent.model.answerBy(inOrder(late.reply));
      const talk = await agent.talk('how many?');
      await late.asked;
      const { status, body } = await tellOfParcel(agent, talk);
      expect(status).toBe(201);
      expect(body).toMatchObject({
        message: { sender: { type: 'api' } },
        conversation: { status: 'ai_active', handover: null },
      });
      await late.give();
      expect(await talk.reply()).toBe('Three are left.');
      expect(await talk.turns(1)).toEqual([expect.objectContaining({ used: true })]);
      expect((await delivered(talk, 'message.sent', 2)).map(({ message }) => message.text)).toEqual(
        expect.arrayContaining(['Your parcel has shipped.', 'Three are left.']),
      );
      expect(eventsOf(talk, 'conversation.handed_over')).toEqual([]);
    });

    it('while a tool call runs: the agent tells its result, and sees the customer as the last to write', async () => {
      const slow = held(answers({ stock: 3 }));
      agent.tools.on('find_stock', slow.reply);
      agent.model.answerBy(inOrder(toolCalls({ name: 'find_stock' }), text('Three are left.')));
      const talk = await agent.talk('how many?');
      await slow.asked;
      await tellOfParcel(agent, talk);
      await slow.give();
      expect(await talk.reply()).toBe('Three are left.');
      expect(agent.asked()[1]!.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    });

    it('leaves control with a person too, and after the hand-back the agent answers the customer', async () => {
      agent.model.answerBy(inOrder(text('First.'), text('Back again.')));
      const talk = await agent.talk('hello');
      await talk.reply();
      await talk.act('takeover');
      await talk.write('one more question');
      expect((await tellOfParcel(agent, talk)).body.conversation.status).toBe('human_active');
      await talk.act('handback');
      expect(await talk.reply(2)).toBe('Back again.');
    });
  });

  it("answers the customer's last message when the conversation is handed back", async () => {
    agent.model.answerBy(inOrder(text('First.'), text('Back again.')));
    const talk = await agent.talk('hello');
    await talk.reply();
    await talk.act('messages');
    await talk.write('one more question');
    await talk.act('handback');
    expect(await talk.reply(2)).toBe('Back again.');
    expect(agent.asked()[1]!.map(({ content }) => content)).toEqual([
      'hello',
      'First.\n\n[sent by the team] a person here',
      'one more question',
    ]);
  });

  it('stays silent after a hand-back when the team wrote last, until the customer writes', async () => {
    const talk = await agent.talk('hello');
    await talk.reply();
    await talk.act('messages');
    expect(await talk.act('handback')).toMatchObject({ status: 'ai_active' });
    await (await agent.talk('another customer')).reply();
    expect(await talk.replies()).toHaveLength(1);
    expect(await talk.turns(1)).toHaveLength(1);
    await talk.write('thanks');
    await talk.reply(2);
  });

  it('a hand-back to an agent that is already in control changes nothing and asks for no second answer', async () => {
    const slow = held(text('Once.'));
    agent.model.answerBy(inOrder(slow.reply));
    const talk = await agent.talk('hello');
    await slow.asked;
    await talk.act('handback');
    await slow.give();
    await talk.reply();
    expect(await talk.turns(1)).toEqual([expect.objectContaining({ used: true })]);
  });

  it('take-over and hand-back while the model thinks: the answer is worked out again, once', async () => {
    const stale = held(text('Stale.'));
    agent.model.answerBy(inOrder(stale.reply, text('Fresh.')));
    const talk = await agent.talk('hello');
    await stale.asked;
    await talk.act('takeover');
    await talk.act('handback');
    await talk.reply();
    await stale.give();
    await talk.turns(2);
    expect(await talk.replies()).toEqual(['Fresh.']);
  });

  it('what failed before a person wrote is not brought up again after the hand-back', async () => {
    const slow = held(answers({ error: 'no' }, 400));
    const thinking = held(text('Never said.'));
    agent.tools.on('find_stock', slow.reply);
    agent.tools.on('busy', answers({ ok: true }));
    // One call fails, one succeeds: while the model is asked for words, a person writes.
    agent.model.answerBy(
      inOrder(
        toolCalls([{ name: 'find_stock' }, { name: 'busy' }]),
        thinking.reply,
        text('Here I am again.'),
      ),
    );
    const talk = await agent.talk('how many?');
    await slow.asked;
    await slow.give();
    await thinking.asked;
    await talk.act('messages');
    await talk.act('handback');
    await talk.write('something else');
    expect(await talk.reply()).toBe('Here I am again.');
    await thinking.give();
  });

  it.each([
    [
      'I want to talk to a person',
      'Of course. I am passing you to a person, who will write to you here.',
    ],
    [
      'quiero hablar con una persona',
      'Por supuesto. Le paso con una persona, que le escribirá por aquí.',
    ],
    [
      'quero falar com um atendente',
      'Claro. Vou passar a conversa para uma pessoa, que vai escrever por aqui.',
    ],
  ])('"%s" is answered by handing over, without asking the model', async (words, sentence) => {
    const talk = await agent.talk(words);
    expect(await talk.reply()).toBe(sentence);
    expect(agent.asked()).toEqual([]);
    expect(await talk.record()).toMatchObject({
      status: 'awaiting_human',
      handover: {
        reason: 'customer_request',
        note: null,
        triggered_by: { type: 'agent', name: 'Assistant' },
      },
    });
    const [sent] = await delivered(talk, 'message.sent', 1);
    expect(sent).toMatchObject({
      conversation: { status: 'awaiting_human' },
      message: { text: sentence },
    });

    await talk.write('are you there?');
    await delivered(talk, 'message.received', 2);
    await (await agent.talk('another customer')).reply();
    expect(await talk.replies()).toHaveLength(1);
    expect(eventsOf(talk, 'conversation.handed_over')).toEqual([]);

    expect(await talk.act('takeover')).toMatchObject({ status: 'human_active' });
    const [handedOver] = await delivered(talk, 'conversation.handed_over', 1);
    expect(handedOver).toMatchObject({
      conversation: { status: 'human_active' },
      handover: { reason: 'api_takeover' },
    });
  });

  it('answers again when a conversation that awaited a person is handed back, and takes the request for a person as answered', async () => {
    const talk = await agent.talk('I want a person');
    await talk.reply();
    await talk.write('where is my order?');
    expect(await talk.act('handback')).toMatchObject({ status: 'ai_active', handover: null });
    expect(await talk.reply(2)).toBe('Hello from the model.');
  });

  it('hands over with the reason and the words that the model gives', async () => {
    agent.model.answerBy(
      inOrder(
        toolCalls({
          name: 'hand-over',
          arguments: { reason: 'missing_knowledge', message: 'A colleague knows more.' },
        }),
      ),
    );
    const talk = await agent.talk('what is the warranty?');
    expect(await talk.reply()).toBe('A colleague knows more.');
    expect(await talk.record()).toMatchObject({
      status: 'awaiting_human',
      handover: { reason: 'missing_knowledge' },
    });
  });

  it('hands over with its own words when the model gives none', async () => {
    agent.model.answerBy(
      inOrder(toolCalls({ name: 'hand-over', arguments: { reason: 'missing_knowledge' } })),
    );
    const talk = await agent.talk('¿cuál es la garantía de la lámpara?');
    expect(await talk.reply()).toBe(
      'No sé cómo ayudarle con eso. Le paso con una persona, que le escribirá por aquí.',
    );
  });
});
