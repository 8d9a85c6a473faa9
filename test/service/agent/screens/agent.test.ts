import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MEMBER_ENV, signedInBrowser, type Browserless } from '../../../helpers/browserless.ts';
import * as model from '../../../helpers/modelServer.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import {
  makeLive,
  startToolEndpoint,
  TOOL_TEST_ENV,
  type ToolEndpoint,
} from '../../../helpers/toolEndpoint.ts';
import { asksModel } from '../agentService.ts';

const HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(2)> \u202egnirts';

const settings = (more: Record<string, string> = {}) => ({
  name: 'Ada',
  greeting: 'Welcome!',
  instructions: 'We sell lamps.',
  language_en: 'on',
  language_es: 'on',
  preferred: 'es',
  ...more,
});

/** Nothing of a try is kept, and it called no tool. */
async function expectNothingStored(
  service: TestService,
  endpoint: ToolEndpoint,
  callsBefore: number,
) {
  expect((await service.api.get('/api/conversations')).body.data).toEqual([]);
  expect((await service.api.get('/api/tool-calls?limit=200')).body.data).toHaveLength(callsBefore);
  expect(endpoint.requests).toHaveLength(callsBefore);
}

describe('the agent’s screen with the keyword agent', () => {
  let service: TestService;
  let endpoint: ToolEndpoint;
  let browser: Browserless;
  beforeAll(async () => {
    endpoint = await startToolEndpoint();
    service = await startTestService({ ca: endpoint.ca, env: { ...MEMBER_ENV, ...TOOL_TEST_ENV } });
    browser = await signedInBrowser(service.url);
  });
  afterAll(async () => {
    await service?.stop();
    await endpoint?.close();
  });

  it('is off at first and says what that means; it is switched on and off', async () => {
    const page = await browser.get('/agent');
    expect(page.text).toContain('The agent is off');
    expect(page.text).toContain('only workflows and your team answer');
    expect(page.text).toContain('Built-in keyword agent.');
    expect((await browser.post('/agent/switch', { enabled: 'on' })).text).toContain(
      'The agent is on',
    );
    expect((await service.api.get('/api/agent')).body.enabled).toBe(true);
    const off = await browser.post('/agent/switch', { enabled: 'off' });
    expect(off.text).toContain('The agent is off');
  });

  it('saves the settings, the preferred language first, and leaves the agent on or off as it was', async () => {
    const page = await browser.post(
      '/agent',
      settings({ instructions: 'We sell lamps.\r\nOpen from 9.' }),
    );
    expect(page.text).toContain('Saved.');
    expect((await service.api.get('/api/agent')).body).toMatchObject({
      name: 'Ada',
      greeting: 'Welcome!',
      instructions: 'We sell lamps.\nOpen from 9.',
      languages: ['es', 'en'],
      enabled: false,
    });
    expect(page.value('name')).toBe('Ada');
  });

  it('says beside the field what is wrong, and keeps what was typed', async () => {
    const page = await browser.post('/agent', {
      name: ' ',
      greeting: HOSTILE,
      instructions: 'x'.repeat(20_001),
      preferred: 'en',
    });
    expect(page.status).toBe(400);
    expect(page.problem('name')).toBe('Must not be empty.');
    expect(page.problem('instructions')).toBe('Must have at most 20000 characters.');
    expect(page.problem('languages')).toBe('Must name at least one language.');
    expect(page.text).toContain(HOSTILE.slice(0, 20));
    expect(page.html).not.toMatch(/<script>|<img src=x/);
  });

  it('refuses a preferred language that is not ticked', async () => {
    const page = await browser.post('/agent', settings({ name: 'Bob', preferred: 'pt' }));
    expect(page.status).toBe(400);
    expect(page.problem('preferred')).toBe('Must be one of the languages that are ticked.');
    expect((await service.api.get('/api/agent')).body.name).not.toBe('Bob');
  });

  it('shows hostile and long settings as text', async () => {
    const page = await browser.post(
      '/agent',
      settings({
        name: HOSTILE,
        greeting: HOSTILE,
        instructions: `${HOSTILE}${'x'.repeat(10_000)}`,
      }),
    );
    expect(page.status).toBe(200);
    expect(page.html).not.toMatch(/<script>|<img src=x/);
    expect(page.value('name')).toBe(HOSTILE);
    await browser.post('/agent', settings());
  });

  it('shows in a try a reply with the greeting, a call with its arguments, and a hand-over with its reason; it calls and keeps nothing', async () => {
    const tool = await endpoint.define(service.api, {
      name: 'find_order',
      description: 'Finds an order by its number and says where it is.',
      parameters: {
        type: 'object',
        properties: { order_number: { type: 'string', description: 'Order number' } },
        required: ['order_number'],
      },
      ask_before_running: true,
    });
    await makeLive(service.api, tool, { order_number: '1' });
    const hello = await browser.post('/agent/try', { text: 'Hello' });
    expect(hello.text).toContain('It would reply Welcome!');
    const call = await browser.post('/agent/try', {
      text: 'Where is order A-1042? Please find my order.',
    });
    expect(call.text).toContain(
      'It would call a tool find_order , after a person approves it, with { "order_number": "A-1042" }',
    );
    const person = await browser.post('/agent/try', { text: 'I want to talk to a person' });
    expect(person.text).toContain(
      'It would hand over to a person The customer asked for a person.',
    );
    const unknown = await browser.post('/agent/try', {
      text: `Can you fix my bicycle chain? ${HOSTILE}`,
    });
    expect(unknown.text).toContain('it does not know how to help');
    expect(unknown.html).not.toMatch(/<script>|<img src=x/);
    await expectNothingStored(service, endpoint, 1);
  });

  it('refuses an empty text, and one that is too long', async () => {
    expect((await browser.post('/agent/try', { text: ' ' })).problem('text')).toBe(
      'Must not be empty.',
    );
    expect((await browser.post('/agent/try', { text: 'x'.repeat(10_000) })).problem('text')).toBe(
      'Must have at most 4096 characters.',
    );
  });
});

describe('the agent’s screen with a language model', () => {
  let service: TestService;
  let endpoint: ToolEndpoint;
  let server: model.ModelServer;
  let browser: Browserless;
  beforeAll(async () => {
    endpoint = await startToolEndpoint();
    server = await model.startModelServer();
    service = await startTestService({
      ca: endpoint.ca,
      env: { ...MEMBER_ENV, ...TOOL_TEST_ENV, ...asksModel(server) },
    });
    browser = await signedInBrowser(service.url);
    const tool = await endpoint.define(service.api, {
      name: 'find_order',
      parameters: {
        type: 'object',
        properties: { order: { type: 'string' } },
        required: ['order'],
      },
    });
    await makeLive(service.api, tool, { order: '1' });
  });
  afterAll(async () => {
    await service?.stop();
    await endpoint?.close();
    await server?.close();
  });

  const tryWith = (...replies: model.ModelReply[]) => {
    server.answerWith(...replies);
    return browser.post('/agent/try', { text: 'Where is my order 7?' });
  };

  it('names the model and its host, never the key', async () => {
    const page = await browser.get('/agent');
    expect(page.text).toContain(`${server.model} at 127.0.0.1:${server.port}`);
    expect(page.text).toContain('The agent is on');
    expect(page.html).not.toContain(server.apiKey);
  });

  it('shows what the model would reply, and offers it the live tools', async () => {
    const reply = await tryWith(model.text(`It is on its way. ${HOSTILE}`));
    expect(reply.text).toContain('It would reply It is on its way.');
    expect(reply.html).not.toMatch(/<script>|<img src=x/);
    expect(server.requests.at(-1)!.body.tools!.map((tool) => tool.function.name)).toContain(
      'find_order',
    );
    await expectNothingStored(service, endpoint, 1);
  });

  it.each([
    ['find_order', { order: '7' }, 'find_order , with { "order": "7" }'],
    ['find_order', {}, 'This call would fail: arguments.order is missing.'],
    [
      'close-conversation',
      { verdict: 'not_relevant', summary: 'Spam.', message: 'Bye.' },
      'close the conversation as not relevant : Spam.',
    ],
    ['hand-over', { reason: 'missing_knowledge', message: 'One moment.' }, 'One moment.'],
  ])('shows what a call of %s with %j would do', async (name, args, shown) => {
    const { text } = await tryWith(model.toolCalls({ name, arguments: args }));
    expect(text).toContain(shown);
    await expectNothingStored(service, endpoint, 1);
  });

  it('shows which calls of a step would be refused: a repeated one, and those after the eighth', async () => {
    const callOf = (order: string) => ({ name: 'find_order', arguments: { order } });
    const numbers = ['1', '1', '2', '3', '4', '5', '6', '7', '8', '9'];
    const { text } = await tryWith(model.toolCalls(numbers.map(callOf)));
    const refusals = text.split('find_order , with').slice(1);
    expect(refusals.map((each) => /This call would fail: ([^.;]+)/.exec(each)?.[1])).toEqual([
      undefined,
      'The same call was made already',
      ...Array(6).fill(undefined),
      ...Array(2).fill('No more than 8 calls are made for one message'),
    ]);
    await expectNothingStored(service, endpoint, 1);
  });

  it('tells in words why the model failed', async () => {
    const refused = await tryWith(model.httpError(401, `bad key ${server.apiKey}`));
    expect(refused.text).toContain(
      "The model failed: The model's server refused the key (401): check LLM_API_KEY.",
    );
    expect(refused.html).not.toContain(server.apiKey);
    await expectNothingStored(service, endpoint, 1);
  });

  it('waits for the model no longer than its time limit, and says so', async () => {
    await service.restart({ LLM_TIMEOUT_MS: '600' });
    browser = await signedInBrowser(service.url);
    expect((await tryWith(model.hang())).text).toContain('The model did not answer within 0.6 s.');
    await expectNothingStored(service, endpoint, 1);
  });
});
