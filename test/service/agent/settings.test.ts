// /api/agent: what the agent is called, when it is on, and what follows from it.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient, chatCustomer } from '../../helpers/apiClient.ts';
import { MEMBER_ENV, signedInBrowser } from '../../helpers/browserless.ts';
import { startTestService, TEST_API_KEY } from '../../helpers/service.ts';
import { text, toolCalls } from '../../helpers/modelServer.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  asksModel,
  held,
  inOrder,
  KEYWORD_ONLY,
  startAgentService,
  type AgentService,
  type Talk,
} from './agentService.ts';

describe("the agent's settings", () => {
  let agent: AgentService;
  beforeAll(async () => {
    agent = await startAgentService({ env: MEMBER_ENV, isOn: false });
  });
  afterAll(() => agent?.close());

  /** Waits for a conversation in the inbox's list of customers who wait for the team. */
  async function waitsForTeam({ id }: Talk) {
    const browser = await signedInBrowser(agent.service.url);
    await waitFor('the customer to wait for the team', async () =>
      (await browser.get('/conversations?tab=waiting')).html.includes(id),
    );
  }
  const settings = async () => (await agent.service.api.get('/api/agent')).body;
  const patch = (changes: unknown) => agent.service.api.patch('/api/agent', changes);

  it('begin with an id, a name and all languages, and are off even with a language model configured', async () => {
    expect(await settings()).toEqual({
      id: expect.stringMatching(/^agent_/),
      name: 'Assistant',
      greeting: '',
      instructions: '',
      languages: ['en', 'es', 'pt'],
      enabled: false,
      payment_links: 'ask',
      handover_phrases: [],
      model: agent.model.model,
      decided_by: 'language_model',
      use_webhook: false,
      webhook: null,
      updated_at: null,
    });
  });

  it('change field by field, and leave the rest', async () => {
    const before = await settings();
    const greeting = '¡Hola! 👋';
    expect((await patch({ name: 'Ana', greeting })).body).toEqual({
      ...before,
      name: 'Ana',
      greeting,
      updated_at: expect.stringMatching(/\+00:00$/),
    });
    expect(
      (await patch({ languages: ['pt', 'es', 'pt'], instructions: 'We sell lamps.' })).body,
    ).toMatchObject({
      name: 'Ana',
      greeting,
      languages: ['pt', 'es'],
      instructions: 'We sell lamps.',
    });
    expect((await patch({ greeting: '', instructions: '' })).body).toMatchObject({
      name: 'Ana',
      greeting: '',
      instructions: '',
    });
    expect(await settings()).toMatchObject({ name: 'Ana', languages: ['pt', 'es'] });
  });

  it('take each field at its limit', async () => {
    const changes = {
      name: '🎉'.repeat(100),
      greeting: 'g'.repeat(1000),
      instructions: 'i'.repeat(20_000),
      languages: ['en'],
      enabled: true,
    };
    expect((await patch(changes)).body).toMatchObject(changes);
    await patch({
      name: 'Assistant',
      greeting: '',
      instructions: '',
      languages: ['en', 'es', 'pt'],
    });
  });

  it.each([
    ['name', ''],
    ['name', '   '],
    ['name', 'n'.repeat(101)],
    ['name', null],
    ['name', 'a\0b'],
    ['name', '\ud800'],
    ['greeting', 'g'.repeat(1001)],
    ['greeting', 7],
    ['instructions', 'i'.repeat(20_001)],
    ['instructions', null],
    ['languages', []],
    ['languages', 'en'],
    ['languages', ['en', 'de']],
    ['enabled', 'yes'],
    ['enabled', null],
    ['id', 'agent_mine'],
    ['model', 'other'],
  ])('refuse %s (case %#), name the field, and stay as they were', async (field, value) => {
    const before = await settings();
    const { status, body } = await patch({ [field]: value });
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.param).toMatch(new RegExp(`^${field}(\\.|$)`));
    expect(body.error.message).not.toContain('Invalid input');
    expect(await settings()).toEqual(before);
  });

  it("put the name on each of the agent's messages, and the greeting before the first one of a conversation only", async () => {
    await patch({ name: 'Ana', greeting: 'Welcome to Lamps & Co.' });
    agent.reset();
    const talk = await agent.talk('hi');
    expect(await talk.reply()).toBe('Welcome to Lamps & Co.\n\nHello from the model.');
    await talk.write('and?');
    expect(await talk.reply(2)).toBe('Hello from the model.');
    const { messages } = await talk.record();
    expect(
      messages
        .filter(({ sender }: { sender: { type: string } }) => sender.type === 'agent')
        .map(({ sender }: { sender: { name: string } }) => sender.name),
    ).toEqual(['Ana', 'Ana']);
    await talk.act('close');
    const next = await talk.customer.write('me again');
    const words = await waitFor(
      'a reply in the new conversation',
      async () =>
        (await agent.service.api.get(`/api/conversations/${next.conversation_id}`)).body.messages[1]
          ?.text,
    );
    expect(words).toMatch(/^Welcome to Lamps & Co\./);
    await patch({ name: 'Assistant', greeting: '' });
  });

  it('keep a whole greeting before the longest reply', async () => {
    const greeting = 'g'.repeat(1000);
    await patch({ greeting });
    agent.model.answerBy(inOrder(text('This is a sentence. '.repeat(500))));
    const reply = await (await agent.talk('hi')).reply();
    expect(reply.startsWith(`${greeting}\n\nThis is`)).toBe(true);
    expect(reply).toMatch(/sentence\.$/);
    expect(reply.length).toBeLessThanOrEqual(4096);
    await patch({ greeting: '' });
  });

  it('are sent to the model: name, instructions and languages', async () => {
    await patch({ name: 'Lumi', instructions: 'We sell lamps.', languages: ['es'] });
    agent.reset();
    const seen = agent.model.requests.length;
    await (await agent.talk('hola')).reply();
    const [system] = agent.model.requests[seen]!.body.messages;
    expect(system!.content).toMatch(/^You are Lumi[\s\S]*Spanish[\s\S]*We sell lamps\.$/);
    await patch({ name: 'Assistant', instructions: '', languages: ['en', 'es', 'pt'] });
  });

  it('switch the agent off in the middle of a reply, which is dropped: the customer waits for the team; once on again, it answers only what is written after that', async () => {
    const late = held(text('Too late.'));
    agent.reset();
    agent.model.answerBy(inOrder(late.reply, text('On again.')));
    const talk = await agent.talk('one');
    await late.asked;
    await patch({ enabled: false });
    await late.give();
    expect(await talk.turns(1)).toMatchObject([{ used: false }]);
    await waitsForTeam(talk);
    await talk.write('two');
    expect(await talk.record()).toMatchObject({ status: 'ai_active', message_count: 2 });
    await patch({ enabled: true });
    const other = await agent.talk('somebody else');
    await other.reply();
    expect(await talk.replies()).toEqual([]);
    await talk.write('three');
    expect(await talk.reply()).toBe('On again.');
    expect(agent.asked().at(-1)!.at(-1)!.content).toBe('one\n\ntwo\n\nthree');
  });

  it('keep the agent from ever telling the customer about a tool call that ended while it was off: the team has to tell', async () => {
    await agent.tool('slow_tool');
    agent.reset();
    const slow = held((res) => void res.writeHead(400).end('{}'));
    agent.tools.on('slow_tool', slow.reply);
    agent.model.answerBy(inOrder(toolCalls({ name: 'slow_tool' }), text('On again.')));
    const talk = await agent.talk('do it');
    await slow.asked;
    await patch({ enabled: false });
    await slow.give();
    await talk.call(({ status }) => status === 'failed');
    await waitsForTeam(talk);
    await patch({ enabled: true });
    await talk.write('hello?');
    expect(await talk.reply()).toBe('On again.');
  });
});

describe('the agent', () => {
  let agent: AgentService;
  afterEach(() => agent?.close());
  const settings = async () => (await agent.service.api.get('/api/agent')).body;
  const switchTo = (enabled: boolean) => agent.service.api.patch('/api/agent', { enabled });

  it('is off until somebody switches it on, whatever tools go live, and answers only what is written from then on', async () => {
    agent = await startAgentService({ env: KEYWORD_ONLY, isOn: false });
    const early = await agent.talk('hello');
    await agent.tool('find_order');
    expect(await settings()).toMatchObject({ enabled: false, model: 'keyword', updated_at: null });
    await switchTo(true);
    const later = await agent.talk('hello');
    expect(await later.reply()).toBe('Hello! What can I do for you?');
    expect(await early.record()).toMatchObject({ status: 'ai_active', message_count: 1 });
    await early.write('hello again');
    await early.reply();
  });

  it('stays off after a restart that adds a language model', async () => {
    agent = await startAgentService({ env: KEYWORD_ONLY, isOn: false });
    await agent.service.restart(asksModel(agent.model));
    expect(await settings()).toMatchObject({ enabled: false, model: agent.model.model });
    const talk = await agent.talk('hello');
    await switchTo(true);
    await (await agent.talk('hello')).reply();
    expect(await talk.replies()).toEqual([]);
  });
});

it("the agent's settings, and whether it is on, belong to one workspace", async () => {
  const service = await startTestService({ env: { AGENT_QUIET_MS: '20' } });
  try {
    const other = await service.addWorkspace('Other');
    await other.patch('/api/agent', { name: 'Olga', enabled: true });
    const mine = (await service.api.get('/api/agent')).body;
    const theirs = (await other.get('/api/agent')).body;
    expect(mine).toMatchObject({ name: 'Assistant', enabled: false, updated_at: null });
    expect(theirs).toMatchObject({ name: 'Olga', enabled: true });
    expect(theirs.id).not.toBe(mine.id);
    const here = await chatCustomer(service.url);
    const there = await chatCustomer(service.url, { workspace: 'other' });
    await here.write('hello');
    await there.write('hello');
    const replied = await waitFor(
      'a reply in the other workspace',
      async () => (await there.read())[1],
    );
    expect(replied).toMatchObject({ from: 'agent', name: 'Olga' });
    expect(await here.read()).toHaveLength(1);
  } finally {
    await service.stop();
  }
});

it("/api/agent answers 401 without a key, with a wrong one and with a visitor's token", async () => {
  const service = await startTestService();
  try {
    const wrong = `${TEST_API_KEY.slice(0, -1)}X`;
    const { token } = await chatCustomer(service.url);
    for (const key of [null, wrong, token]) {
      const api = apiClient(service.url, key);
      expect((await api.get('/api/agent')).status).toBe(401);
      expect((await api.patch('/api/agent', { enabled: true })).status).toBe(401);
    }
  } finally {
    await service.stop();
  }
});
