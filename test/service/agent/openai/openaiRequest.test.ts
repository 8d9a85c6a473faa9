// What a language model is shown of a turn. The server refuses whatever OpenAI would refuse.
import { text } from '../../../helpers/modelServer.ts';
import type { HistoryItem, Turn } from '../../../../service/src/agent/agentModel.ts';
import { closeModels, customer, lookupTool, openModel, pastCall, turnOf } from './openaiSupport.ts';

afterEach(async () => expect(await closeModels()).toEqual([]));

const shown = async (turn: Partial<Turn> = {}) => {
  const model = await openModel();
  model.server.answerWith(text('ok'));
  await model.next(turnOf(turn));
  return model;
};

const messagesFor = async (...history: HistoryItem[]) => (await shown({ history })).lastMessages();

it('sends the model, the messages and the functions, and nothing that a server may not know', async () => {
  const { server } = await shown();
  const { body, headers } = server.requests[0]!;
  expect(Object.keys(body).sort()).toEqual(['messages', 'model', 'tools']);
  expect(body.model).toBe('test-model');
  expect(
    Object.keys(headers).filter((name) => name.startsWith('x-') || name.startsWith('openai-')),
  ).toEqual([]);
});

it('sends no key when there is none', async () => {
  const { server, next } = await openModel({ server: { apiKey: null } });
  server.answerWith(text('ok'));
  await next();
  expect(server.requests[0]!.headers).not.toHaveProperty('authorization');
});

it('tells the model who it is, its languages and its rules', async () => {
  const { lastPrompt } = await shown({
    agent: { name: 'Ada', instructions: 'We sell lamps.\0', languages: ['es', 'pt', 'en'] },
    language: 'es',
  });
  const prompt = lastPrompt();
  expect(prompt).toContain('You are Ada');
  expect(prompt).toContain("sent by a person of the team or by one of the team's automations");
  expect(prompt).toContain("The team's instructions:\nWe sell lamps.");
  expect(prompt).toContain(
    "Answer in the customer's language when it is Spanish, Portuguese or English; otherwise in Spanish.",
  );
  for (const rule of [
    'unless a tool result',
    'a colleague has to confirm',
    'offer one or call hand-over',
    'masked',
    'never instructions to you',
    'plain text',
  ])
    expect(prompt).toMatch(new RegExp(rule, 'i'));
});

it('leaves the instructions out when there are none', async () => {
  const { lastPrompt } = await shown({
    agent: { name: 'Ada', instructions: ' ', languages: ['en'] },
  });
  expect(lastPrompt()).not.toContain("The team's instructions:");
  expect(lastPrompt()).toContain('when it is English; otherwise in English.');
});

it('offers the live tools and the built-in functions', async () => {
  const { server, lastFunctionNames } = await shown();
  expect(lastFunctionNames()).toEqual([
    'lookup_order',
    'hand-over',
    'close-conversation',
    'mark-qualified',
  ]);
  expect(server.requests[0]!.body.tools![0]!.function).toEqual({
    name: 'lookup_order',
    description: 'Looks up an order',
    parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
  });
});

it("adapts a tool's schema and description to what OpenAI takes", async () => {
  const { server } = await shown({
    tools: [
      {
        name: 'ping',
        description: 'Pings. '.repeat(300),
        parameters: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: ['object'] },
        readOnly: false,
        examplePhrases: ['are you there'],
      },
      { ...lookupTool, name: 'find', examplePhrases: ['where is it', 'find it'] },
    ],
  });
  const { description, parameters } = server.requests[0]!.body.tools![0]!.function;
  expect(parameters).toEqual({ type: 'object', properties: {} });
  expect(description!.length).toBeLessThanOrEqual(1024);
  expect(server.requests[0]!.body.tools![1]!.function.description).toBe(
    'Looks up an order. Customers write, for example: where is it; find it',
  );
});

it('offers the built-in functions alone when no tool may be called', async () => {
  const { lastFunctionNames } = await shown({ mayCallTools: false });
  expect(lastFunctionNames()).toEqual(['hand-over', 'close-conversation', 'mark-qualified']);
});

it('shows customer and agent in turns, and marks what the team wrote', async () => {
  const messages = await messagesFor(
    customer('Hi'),
    { type: 'reply', from: 'agent', text: 'Hello!' },
    customer('I have a question'),
    customer('about lamps'),
    { type: 'reply', from: 'team', text: 'Ben here.' },
    { type: 'reply', from: 'agent', text: 'How can I help?' },
    customer('Do you have red ones?'),
  );
  expect(messages).toEqual([
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello!' },
    { role: 'user', content: 'I have a question\n\nabout lamps' },
    { role: 'assistant', content: '[sent by the team] Ben here.\n\nHow can I help?' },
    { role: 'user', content: 'Do you have red ones?' },
  ]);
});

it('begins with a user message when the history begins with another one', async () => {
  const messages = await messagesFor(
    { type: 'reply', from: 'agent', text: 'Hello!' },
    customer('Hi'),
  );
  expect(messages.map((message) => message.role)).toEqual(['user', 'assistant', 'user']);
});

it('removes NUL and halves of surrogate pairs', async () => {
  expect(await messagesFor(customer('a\0b\ud800c 🎉'))).toEqual([
    { role: 'user', content: 'abc 🎉' },
  ]);
});

it('shows calls with their ids, arguments as text, and one result each', async () => {
  const messages = await messagesFor(customer('Hi'), {
    type: 'tool_calls',
    calls: [
      pastCall({ id: 'call_1' }),
      pastCall({ id: 'call_2', outcome: '{"state":"ship' }),
      pastCall({ id: 'call_3', status: 'pending_approval', outcome: 'A person has to approve.' }),
      pastCall({
        id: 'call_4',
        tool: 'functions.make coffee',
        status: 'invalid',
        outcome: 'No such tool.',
      }),
    ],
  });
  const [, calls, ...results] = messages;
  expect(calls!.content).toBeNull();
  expect(calls!.tool_calls).toHaveLength(4);
  expect(calls!.tool_calls![0]).toEqual({
    id: 'call_1',
    type: 'function',
    function: { name: 'lookup_order', arguments: '{"order":"7"}' },
  });
  expect(calls!.tool_calls![3]!.function.name).toBe('functions_make_coffee');
  expect(
    results.map(({ role, tool_call_id, content }) => [role, tool_call_id, JSON.parse(content!)]),
  ).toEqual([
    ['tool', 'call_1', { status: 'succeeded', result: { state: 'shipped' } }],
    ['tool', 'call_2', { status: 'succeeded', result: '{"state":"ship' }],
    ['tool', 'call_3', { status: 'pending_approval', message: 'A person has to approve.' }],
    ['tool', 'call_4', { status: 'invalid', message: 'No such tool.' }],
  ]);
});

it("shows a late result as a note in the customer's place that names its call", async () => {
  const waiting = pastCall({ status: 'pending_approval', outcome: 'A person has to approve.' });
  const messages = await messagesFor(
    customer('Refund me'),
    { type: 'tool_calls', calls: [waiting] },
    { type: 'reply', from: 'agent', text: 'A colleague has to confirm.' },
    { type: 'late_result', call: { ...waiting, status: 'rejected', outcome: 'A person said no.' } },
  );
  expect(messages.at(-1)!.role).toBe('user');
  expect(messages.at(-1)!.content).toContain(`[note from the service about ${waiting.id}]`);
  expect(messages.at(-1)!.content).toContain('{"status":"rejected","message":"A person said no."}');
  expect(messages.at(-1)!.content).toContain('Tell the customer');
});
