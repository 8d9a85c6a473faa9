// A model that fails, closes or qualifies; and what the service lets it see.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import {
  badRequest,
  choice,
  hang,
  httpError,
  temporaryError,
  text,
  toolCalls,
} from '../../helpers/modelServer.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  answers,
  inTurn,
  resultsIn,
  startAgentService,
  type AgentService,
  type Talk,
} from './agentService.ts';

const SORRY = {
  en: 'Sorry, something went wrong on our side. A person will follow up and write to you here.',
  es: 'Disculpe, tuvimos un error de nuestro lado. Una persona le dará seguimiento y le escribirá por aquí.',
};

describe('a model that fails', () => {
  let agent: AgentService;
  beforeAll(async () => {
    agent = await startAgentService({ env: { LLM_TIMEOUT_MS: '5000' } });
  });
  beforeEach(() => agent.reset());
  afterAll(() => agent?.close());

  it.each([
    ['never answers', hang(), /did not answer within 5 s/],
    [
      'refuses the request',
      badRequest('no such parameter'),
      /refused the request \(400\): no such parameter/,
    ],
  ])(
    '%s: a person gets the conversation, the customer a plain sentence, the team the reason',
    async (_what, reply, reason) => {
      agent.model.answerBy(() => reply);
      const talk = await agent.talk('¿dónde está mi pedido?');
      expect(await talk.reply()).toBe(SORRY.es);
      const { status, handover } = await talk.record();
      expect({ status, reason: handover.reason }).toEqual({
        status: 'awaiting_human',
        reason: 'agent_error',
      });
      expect(handover.note).toMatch(reason);
      expect(await talk.replies()).toHaveLength(1);
    },
  );

  it('recovers from temporary errors', async () => {
    agent.model.answerBy(inTurn(temporaryError(503), temporaryError(429), text('Here I am.')));
    expect(await (await agent.talk('hello')).reply()).toBe('Here I am.');
  });

  it('keeps the API key and the e-mail out of note and log when the model server repeats them', async () => {
    const from = agent.log.length;
    agent.model.answerBy(({ headers }) =>
      httpError(400, `bad request with ${headers.authorization}, written by maria@example.com`),
    );
    const talk = await agent.talk('hello, my address is maria@example.com', {
      email: 'maria@example.com',
    });
    await talk.reply();
    const { handover } = await talk.record();
    expect(handover.note).toContain('[key]');
    expect(handover.note).not.toContain('maria@example.com');
    await talk.turns(1);
    const logged = agent.log.slice(from).join('');
    expect(logged).toContain('the agent failed and handed over');
    expect(`${handover.note}${agent.log.join('')}`).not.toContain(agent.model.apiKey);
    expect(logged).not.toContain('maria@example.com');
  });
});

describe('a model that closes and qualifies', () => {
  let agent: AgentService;
  let receiver: EventReceiver;
  beforeAll(async () => {
    receiver = await startEventReceiver();
    agent = await startAgentService({ ca: receiver.ca });
    for (const event of ['conversation.closed', 'conversation.qualified', 'message.sent'] as const)
      await receiver.subscribe(agent.service, event);
    await agent.tool('find_stock');
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
      inTurn(
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
    agent.model.answerBy(inTurn(toolCalls([qualify], 'Great!')));
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

  it('qualifies beside a tool call too', async () => {
    agent.model.answerBy(inTurn(toolCalls([qualify, { name: 'find_stock' }]), text('Three.')));
    const talk = await agent.talk('I want to buy a hundred');
    await talk.reply();
    expect(await talk.record()).toMatchObject({ funnel_stage: 'qualified', status: 'ai_active' });
    expect(agent.tools.calls).toHaveLength(1);
  });

  it('qualifies beside a hand-over too', async () => {
    const handOver = { name: 'hand-over', arguments: { reason: 'customer_request' } };
    agent.model.answerBy(inTurn(toolCalls([qualify, handOver])));
    const talk = await agent.talk('I want to buy a hundred');
    await talk.reply();
    expect(await talk.record()).toMatchObject({
      funnel_stage: 'qualified',
      status: 'awaiting_human',
    });
    await eventOf(talk, 'conversation.qualified');
  });

  it('is asked again for a reply when it only qualified', async () => {
    agent.model.answerBy(inTurn(toolCalls(qualify), text('Great!')));
    const talk = await agent.talk('I want to buy a hundred');
    expect(await talk.reply()).toBe('Great!');
    expect(await talk.record()).toMatchObject({ funnel_stage: 'qualified' });
  });
});

describe('what the service sends to a model', () => {
  let agent: AgentService;
  const PHONE = '+54 9 11 5555-0134';
  const EMAIL = 'maria@example.com';
  beforeAll(async () => {
    agent = await startAgentService();
    await agent.tool('find_contact', {
      parameters: { type: 'object', properties: { phone: {}, email: {}, note: {} } },
    });
  });
  beforeEach(() => agent.reset());
  afterEach(() => expect(agent.model.faults).toEqual([]));
  afterAll(() => agent?.close());

  it('never contains the phone or e-mail of the contact: in messages, names, arguments, results or errors', async () => {
    const contact = {
      note: `call\n+54 9 11\n5555\t0134 or ${EMAIL}`,
      number: 5491155550134,
      list: [{ [EMAIL]: 'MARIA@example.com' }],
    };
    agent.tools.on('find_contact', answers(contact));
    agent.model.answerBy(
      inTurn(
        toolCalls({
          name: 'find_contact',
          arguments: { phone: 5491155550134, email: EMAIL, note: 'a\n+5491155550134' },
        }),
        toolCalls({
          name: 'find_contact',
          arguments: { note: '011 15 5555 0134', email: 'other@example.com' },
        }),
        text(`I have ${EMAIL} on record.`),
        text('Bye.'),
      ),
    );
    const talk = await agent.talk(`I am ${PHONE}, ${EMAIL}. Order 20391155.`, {
      name: `Maria ${EMAIL}`,
      phone: PHONE,
      email: EMAIL,
    });
    await talk.reply();
    await agent.service.api.post(`${talk.path}/messages`, {
      text: `Team: we will write to ${EMAIL}.`,
    });
    await talk.act('handback');
    await talk.write('ok');
    await talk.reply(2);
    const seen = JSON.stringify(agent.model.requests.at(-1)!.body) + JSON.stringify(agent.asked());
    expect(seen).toContain('Order 20391155');
    expect(seen).toContain('other@example.com');
    expect(seen).not.toMatch(/maria@example/i);
    expect(seen.replace(/\D/g, '')).not.toContain('55550134');
    // The tool itself was given what the model wrote, and the record shows it masked.
    expect(agent.tools.calls[0]!.arguments).toEqual({
      phone: 5491155550134,
      email: EMAIL,
      note: 'a\n+5491155550134',
    });
    const recorded =
      JSON.stringify(await talk.calls()) +
      JSON.stringify(
        (await agent.service.api.get(`/api/tool-calls/${agent.tools.calls[0]!.tool_call_id}`)).body,
      );
    expect(recorded).not.toMatch(/maria@example/i);
    expect(recorded).not.toMatch(/5555\D{0,4}0134/);
  });

  it('never contains a secret of a tool', async () => {
    const SECRET = 'templ-s3cret-0123456789';
    const { body } = await agent.service.api.post('/api/tools', {
      name: 'with_secret',
      description: 'Looks.',
      kind: 'HTTP',
      request_template: {
        method: 'POST',
        url: `http://127.0.0.1:${agent.tools.port}/with_secret`,
        headers: { authorization: 'Bearer {{secrets.TOKEN}}' },
        body: { conversation_id: '{{conversation.id}}', tool: 'with_secret' },
      },
      secrets: { TOKEN: SECRET },
    });
    await agent.service.api.post(`/api/tools/${body.id}/go-live`, { arguments: {} });
    await waitFor(
      'it to go live',
      async () => (await agent.service.api.get(`/api/tools/${body.id}`)).body.status === 'live',
    );
    agent.tools.on('with_secret', answers({ echo: `Bearer ${SECRET}` }));
    agent.model.answerBy(inTurn(toolCalls({ name: 'with_secret' }), text('Looked.')));
    const talk = await agent.talk('look');
    await talk.reply();
    expect(resultsIn(agent.asked()[1]!)).toHaveLength(1);
    expect(JSON.stringify(agent.model.requests.map((request) => request.body))).not.toContain(
      SECRET,
    );
    expect(JSON.stringify(await talk.calls()) + agent.log.join('')).not.toContain(SECRET);
  });

  it('contains at most 8 KiB of a result, while the record keeps all of it', async () => {
    const big = 'é🎉'.repeat(20_000);
    agent.tools.on('find_contact', answers({ big }));
    agent.model.answerBy(inTurn(toolCalls({ name: 'find_contact' }), text('A lot.')));
    const talk = await agent.talk('all of it');
    await talk.reply();
    const [{ status, result }] = resultsIn(agent.asked()[1]!);
    expect(status).toBe('succeeded');
    expect(Buffer.byteLength(result)).toBeLessThanOrEqual(8 * 1024 + 12);
    expect(Buffer.byteLength(result)).toBeGreaterThan(8 * 1024 - 8);
    expect(result).toMatch(/(é|🎉)… \(cut\)$/u);
    const [call] = await talk.calls();
    expect(
      (await agent.service.api.get(`/api/tool-calls/${call.tool_call_id}`)).body.result,
    ).toEqual({ big });
  });

  it('drops half a surrogate pair from the reply of the model', async () => {
    agent.model.answerBy(inTurn(choice({ message: { content: 'a\ud800b' } })));
    expect(await (await agent.talk('hello')).reply()).toBe('ab');
  });
});
