// A workspace whose calls hang keeps no other waiting: the places of each worker are shared between
// workspaces.
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { chatCustomer, type ApiClient } from '../../../helpers/apiClient.ts';
import { boundReached } from '../../../helpers/metrics.ts';
import { hang, startModelServer, text } from '../../../helpers/modelServer.ts';
import { startTestService, type TestServiceOptions } from '../../../helpers/service.ts';
import { sharedTestCa, startTlsReceiver } from '../../../helpers/tls.ts';
import { startToolEndpoint } from '../../../helpers/toolEndpoint.ts';
import { waitFor } from '../../../helpers/waitFor.ts';

const SLOW_MACHINE = { timeoutMs: 60_000 };
jest.setTimeout(180_000);
const QUIET_MS = 40;

/** Run after each test, last added first. */
const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const each of undo.splice(0).reverse()) await each();
});

const startService = async (options: TestServiceOptions) => {
  const service = await startTestService(options);
  undo.push(() => service.stop());
  return { service, other: await service.addWorkspace('Other') };
};
const times = <T>(count: number, run: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => run(n)));

/** Answers that are held back until they are let go. */
function holding(answer: (response: ServerResponse) => void) {
  const held: { readonly path: string; readonly response: ServerResponse; readonly at: number }[] =
    [];
  /** How many answers each path held when the last of them was let go. */
  const levels = new Map<string, number>();
  let isHolding = true;
  const letGo = (...those: typeof held) => {
    for (const each of those) {
      held.splice(held.indexOf(each), 1);
      answer(each.response);
    }
  };
  return {
    get count() {
      return held.length;
    },
    take(path: string, response: ServerResponse) {
      if (isHolding) held.push({ path, response, at: performance.now() });
      else answer(response);
    },
    /**
     * Lets go the newest answer of each path that holds as many as the last time and has been quiet
     * for QUIET_MS. The newest has waited least, so the receiver counts as fast.
     */
    letOneGo() {
      for (const [path, waiting] of Map.groupBy(held, (each) => each.path)) {
        const newest = waiting.at(-1)!;
        if (waiting.length < (levels.get(path) ?? 0)) continue;
        if (performance.now() - newest.at < QUIET_MS) continue;
        levels.set(path, waiting.length);
        letGo(newest);
      }
    },
    letGo() {
      isHolding = false;
      letGo(...held);
    },
  };
}

/** A service and an endpoint of tools whose calls to `/slow` are held back. */
const startWithSlowTools = async () => {
  const endpoint = await startToolEndpoint();
  undo.push(() => endpoint.close());
  const slow = holding(
    (response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}'),
  );
  endpoint.answerAlways('/slow', ({ path }, response) => slow.take(path, response));
  const started = await startService({ ca: endpoint.ca });
  undo.push(async () => slow.letGo());
  return { endpoint, slow, ...started };
};
const testTool = (api: ApiClient, id: string) =>
  api.post(`/api/tools/${id}/test`, { arguments: {} });

describe('a workspace whose receivers leave everything unanswered', () => {
  it('with nine tools and hundreds of calls has 128 of them under way, and another workspace’s call begins at once', async () => {
    const MAX_PLACES = 128;
    const { endpoint, slow, service, other } = await startWithSlowTools();
    const tools = await times(9, (n) =>
      endpoint.define(service.api, { name: `slow_${n}`, timeout: 60 }, '/slow'),
    );
    const calls = tools.map(({ id }) => times(25, () => testTool(service.api, id)));
    await waitFor(
      'as many calls as one workspace may have',
      () => slow.count >= MAX_PLACES,
      SLOW_MACHINE,
    );

    const quick = await endpoint.define(other, { name: 'quick' });
    const answers = await times(20, () => testTool(other, quick.id));
    expect(answers.map(({ body }) => body.status)).toEqual(Array(20).fill('succeeded'));
    expect(slow.count).toBe(MAX_PLACES);
    expect(
      await waitFor('the bound to be told', () =>
        boundReached(service.url, 'workspace_tool_calls'),
      ),
    ).toBe(1);

    slow.letGo();
    const made = (await Promise.all(calls)).flat();
    expect(made.map(({ body }) => body.status)).toEqual(made.map(() => 'succeeded'));
    expect(await boundReached(service.url, 'workspace_tool_calls')).toBe(1);
  });

  it('may wait for 256 test calls of tools: a further one is refused with 429, and another workspace’s is not', async () => {
    const MAX_PLACES = 256;
    const TOO_MANY = 10;
    const RETRY_AFTER_S = 10;
    const { endpoint, slow, service, other } = await startWithSlowTools();
    const tool = await endpoint.define(service.api, { name: 'slow', timeout: 60 });

    const refused: number[] = [];
    let succeeded = 0;
    const calls = times(MAX_PLACES + TOO_MANY, async () => {
      const answer = await testTool(service.api, tool.id);
      if (answer.status === 429) refused.push(Number(answer.headers.get('retry-after')));
      else succeeded += Number(answer.body.status === 'succeeded');
    });
    await waitFor(
      'the calls beyond the limit to be refused',
      () => refused.length === TOO_MANY,
      SLOW_MACHINE,
    );
    expect(new Set(refused)).toEqual(new Set([RETRY_AFTER_S]));
    const quick = await endpoint.define(other, { name: 'quick' });
    expect((await testTool(other, quick.id)).body.status).toBe('succeeded');
    slow.letGo();
    await calls;
    expect([refused.length, succeeded]).toEqual([TOO_MANY, MAX_PLACES]);
    expect((await testTool(service.api, tool.id)).body.status).toBe('succeeded');
    expect(await boundReached(service.url, 'workspace_test_calls')).toBe(TOO_MANY);
  });

  it('with 25 subscriptions has 512 deliveries under way, and another workspace’s delivery begins at once', async () => {
    const MAX_PLACES = 512;
    const slow = holding((response) => void response.end('ok'));
    const receiver = await startTlsReceiver(({ path }, response) =>
      path.startsWith('/slow') ? slow.take(path, response) : void response.end('ok'),
    );
    undo.push(() => receiver.close());
    const { service, other } = await startService({
      ca: (await sharedTestCa()).ca,
      env: { DELIVERY_TIMEOUT_MS: '120000' },
    });
    undo.push(async () => slow.letGo());
    const at = (path: string) =>
      receiver.requests.filter((request) => request.path.startsWith(path)).length;
    const subscribe = (api: ApiClient, path: string) =>
      api.post('/api/hooks', {
        event: 'message.received',
        target_url: receiver.url + path,
        source: 'test',
      });

    await times(25, (n) => subscribe(service.api, `/slow/${n}`));
    await subscribe(other, '/quick');
    const customers = await times(10, () => chatCustomer(service.url));
    const EVENTS = 120;
    await Promise.all(
      customers.map(async (each) => {
        for (let n = 0; n < EVENTS / customers.length; n += 1) await each.write('hello');
      }),
    );
    // A receiver that answers one delivery while others wait is sent one more at once, up to the
    // limit.
    await waitFor(
      'as many deliveries as one workspace may have',
      () => slow.count >= MAX_PLACES || slow.letOneGo(),
      { timeoutMs: 90_000 },
    );

    const customer = await chatCustomer(service.url, { workspace: 'other' });
    for (let n = 0; n < 5; n += 1) await customer.write('hello');
    await waitFor('the other workspace’s events', () => at('/quick') === 5);
    expect(slow.count).toBe(MAX_PLACES);
    await waitFor('the bound to be told', () => boundReached(service.url, 'workspace_deliveries'));

    slow.letGo();
    await waitFor('what waited', () => at('/slow') === 25 * EVENTS, SLOW_MACHINE);
  });

  it('with a model that hangs has 32 turns under way, and another workspace’s customer is answered', async () => {
    const MAX_PLACES = 32;
    const model = await startModelServer();
    undo.push(() => model.close());
    model.answerBy(({ body }) =>
      JSON.stringify(body.messages).includes('slow') ? hang() : text('At once.'),
    );
    const { service, other } = await startService({
      env: {
        AGENT_QUIET_MS: '0',
        LLM_BASE_URL: model.url,
        LLM_API_KEY: model.apiKey,
        LLM_MODEL: model.model,
      },
    });
    for (const api of [service.api, other]) await api.patch('/api/agent', { enabled: true });
    await times(MAX_PLACES + 20, async () =>
      (await chatCustomer(service.url)).write('a slow question'),
    );
    await waitFor(
      'as many turns as one workspace may have',
      () => model.requests.length >= MAX_PLACES,
      SLOW_MACHINE,
    );

    const customer = await chatCustomer(service.url, { workspace: 'other' });
    await customer.write('hello');
    await waitFor('the answer', async () => (await customer.read())[1]?.text === 'At once.');
    expect(model.requests.length).toBe(MAX_PLACES + 1);
    expect(
      await waitFor('the bound to be told', () =>
        boundReached(service.url, 'workspace_agent_turns'),
      ),
    ).toBe(1);
  });
});
