import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SENTENCES } from '../../../service/src/agent/keyword/sentences.ts';
import { startServiceProcess, type ServiceProcess } from '../../helpers/serviceProcess.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../../helpers/tls.ts';
import {
  agentSays,
  ask,
  callIn,
  hang,
  makeLive,
  saidByAgent,
  startToolEndpoint,
  type Answer,
  type DefinedTool,
  type ToolEndpoint,
} from '../../helpers/toolEndpoint.ts';
import { waitFor } from '../../helpers/waitFor.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are looked at field by field
type Json = any;

const ONE_TOOL_AT_ONCE = 16;

describe('a call of a tool in a process that dies', () => {
  let tls: TlsFiles;
  let service: ServiceProcess;
  let endpoint: ToolEndpoint;
  let stubborn: Stubborn;

  beforeAll(async () => {
    tls = await writeTlsFiles(await sharedTestCa());
    endpoint = await startToolEndpoint();
    stubborn = await stopDuringCallsWithoutEnd(tls.caFile);
    service = await startServiceProcess({
      caFile: tls.caFile,
      env: { TOOL_RETRY_DELAYS_MS: '700,20', AGENT_QUIET_MS: '0' },
    });
  });
  beforeEach(() => endpoint.forget());
  afterEach(async () => {
    expect(endpoint.faults).toEqual([]);
    for (const { id } of (await service.api.get('/api/tools')).body.data)
      await service.api.delete(`/api/tools/${id}`);
  });
  afterAll(async () => {
    await service?.close();
    await stubborn?.restarted;
    await stubborn?.service.close();
    await stubborn?.endpoint.close();
    await endpoint?.close();
    await tls?.remove();
  });

  const define = (
    kind: 'Webhook' | 'HTTP',
    name: string,
    fields: Json = {},
  ): Promise<DefinedTool> =>
    endpoint[kind === 'Webhook' ? 'define' : 'defineHttp'](service.api, {
      name,
      timeout: 60,
      ...fields,
    });
  /** Asks for a test call whose answer will never come: the process dies before. */
  const beginTest = ({ id }: DefinedTool) =>
    void service.api.post(`/api/tools/${id}/test`, {}).catch(() => {});
  const seen = (tool: DefinedTool, requests: number) =>
    waitFor(`request ${requests}`, () => endpoint.at(tool.path).length >= requests, { everyMs: 5 });
  const idsAt = (tool: DefinedTool): string[] =>
    tool.secret === null
      ? endpoint.at(tool.path).map(({ headers }) => String(headers['x-call']))
      : endpoint.envelopes(tool.path).map((envelope) => envelope.tool_call_id as string);
  const ended = (tool: DefinedTool): Promise<Json> =>
    callIn(
      service.api,
      `tool=${tool.name}&conversation_id=conv_test`,
      'succeeded',
      'failed',
      'cancelled',
    );
  const park = async (tool: DefinedTool) => {
    const asked = await ask(service.url, tool);
    const call = await callIn(
      service.api,
      `conversation_id=${asked.conversationId}`,
      'pending_approval',
    );
    expect(await agentSays(asked.customer)).toBe(SENTENCES.waitingForApproval.en);
    return { ...asked, call };
  };

  it('runs exactly once under its id when it was approved, and the process died before it could begin', async () => {
    const tool = await define('Webhook', 'find_order', { ask_before_running: true });
    await makeLive(service.api, tool);
    const { call, customer, conversationId } = await park(tool);
    endpoint.forget();
    endpoint.answer(tool.path, ...Array<Answer>(ONE_TOOL_AT_ONCE).fill(hang));
    // every place of the tool is taken: the approved call has to wait
    for (let n = 0; n < ONE_TOOL_AT_ONCE; n++) beginTest(tool);
    await seen(tool, ONE_TOOL_AT_ONCE);
    const { status, body } = await service.api.post(
      `/api/tool-calls/${call.tool_call_id}/approve`,
      { note: 'Go.' },
    );
    await service.crashAndRestart();
    expect([status, body.status, body.attempts]).toEqual([200, 'running', 0]);
    expect(
      await callIn(service.api, `conversation_id=${conversationId}`, 'succeeded'),
    ).toMatchObject({
      tool_call_id: call.tool_call_id,
      attempts: 1,
      decision: { approved: true, note: 'Go.' },
    });
    expect(idsAt(tool).filter((id) => id === call.tool_call_id)).toHaveLength(1);
    await agentSays(customer, 2);
    await waitFor(
      'the test calls',
      async () =>
        (await service.api.get(`/api/tool-calls?tool=${tool.name}&status=running`)).body.data
          .length === 0,
    );
    const counts = Map.groupBy(idsAt(tool), (id) => id);
    expect([...counts.values()].map(({ length }) => length).sort()).toEqual([
      1,
      ...Array<number>(ONE_TOOL_AT_ONCE).fill(2),
    ]);
    expect(
      (await service.api.get(`/api/conversations/${conversationId}`)).body.pending_approvals,
    ).toBe(0);
    expect(await saidByAgent(customer)).toHaveLength(2);
  });

  it('is never lost nor made under another id when the process dies with the approve answer', async () => {
    const tool = await define('Webhook', 'find_order', { ask_before_running: true });
    await makeLive(service.api, tool);
    const { call, conversationId } = await park(tool);
    endpoint.forget();
    await service.api.post(`/api/tool-calls/${call.tool_call_id}/approve`, {});
    await service.crashAndRestart();
    const { attempts } = await callIn(
      service.api,
      `conversation_id=${conversationId}`,
      'succeeded',
    );
    expect(new Set(idsAt(tool))).toEqual(new Set([call.tool_call_id]));
    expect(idsAt(tool).length).toBeLessThanOrEqual(attempts);
    expect(attempts).toBeLessThanOrEqual(2);
  });

  it('of the Webhook kind resumes under its id with the attempts it has left, three requests in all', async () => {
    const tool = await define('Webhook', 'book_table');
    endpoint.answerAlways(tool.path, hang);
    beginTest(tool);
    for (const n of [1, 2, 3]) {
      await seen(tool, n);
      const [call] = (await service.api.get(`/api/tool-calls?tool=${tool.name}`)).body.data;
      expect([call.status, call.attempts]).toEqual(['running', n]);
      await service.crashAndRestart();
    }
    const call = await ended(tool);
    expect(call).toMatchObject({ status: 'failed', attempts: 3, error: { type: 'interrupted' } });
    expect(idsAt(tool)).toEqual(Array(3).fill(call.tool_call_id));
    expect((await service.api.get(`/api/tools/${tool.id}`)).body).toMatchObject({
      status: 'draft',
      tested_at: null,
      last_test: { tool_call_id: call.tool_call_id, succeeded: false },
    });
  });

  it('of the agent resumes, succeeds, and is told once', async () => {
    const tool = await define('Webhook', 'check_stock');
    await makeLive(service.api, tool);
    endpoint.forget();
    endpoint.answer(tool.path, hang, { json: { message: 'Five are left.' } });
    const { customer, conversationId } = await ask(service.url, tool);
    await seen(tool, 1);
    await service.crashAndRestart();
    const call = await callIn(service.api, `conversation_id=${conversationId}`, 'succeeded');
    expect(call.attempts).toBe(2);
    expect(idsAt(tool)).toEqual([call.tool_call_id, call.tool_call_id]);
    expect(await agentSays(customer)).toBe('Five are left.');
    expect(await saidByAgent(customer)).toHaveLength(1);
  });

  it('of the HTTP kind fails as interrupted and is not sent again; the customer is told', async () => {
    const [tool, draft] = [
      await define('HTTP', 'rent_bicycle'),
      await define('HTTP', 'paint_fence'),
    ];
    await makeLive(service.api, tool);
    endpoint.forget();
    endpoint.answerAlways(tool.path, hang);
    endpoint.answerAlways(draft.path, hang);
    const { customer, conversationId } = await ask(service.url, tool);
    await service.api.post(`/api/tools/${draft.id}/go-live`, { arguments: {} });
    await Promise.all([seen(tool, 1), seen(draft, 1)]);
    await service.crashAndRestart();
    expect(await callIn(service.api, `conversation_id=${conversationId}`, 'failed')).toMatchObject({
      attempts: 1,
      http_status: null,
      error: { type: 'interrupted' },
    });
    expect(await agentSays(customer)).toBe(SENTENCES.toolFailed.en);
    const left = await waitFor('the draft to be told', async () => {
      const { body } = await service.api.get(`/api/tools/${draft.id}`);
      return body.going_live ? null : body;
    });
    expect(left).toMatchObject({
      status: 'draft',
      tested_at: null,
      last_test: { succeeded: false, error: expect.stringContaining('stopped') },
    });
    expect([endpoint.at(tool.path).length, endpoint.at(draft.path).length]).toEqual([1, 1]);
  });

  it.each(['Webhook', 'HTTP'] as const)(
    'goes on with its next attempt, in its time, when the process died between two (%s)',
    async (kind) => {
      const tool = await define(kind, 'track_parcel');
      endpoint.answer(tool.path, 500);
      beginTest(tool);
      await waitFor(
        'the attempt on record',
        async () =>
          (await service.api.get(`/api/tool-calls?tool=${tool.name}`)).body.data[0]?.http_status ===
          500,
        { everyMs: 5 },
      );
      await service.crashAndRestart();
      const call = await ended(tool);
      expect(call).toMatchObject({ status: 'succeeded', attempts: 2, error: null });
      expect(idsAt(tool)).toEqual([call.tool_call_id, call.tool_call_id]);
      const [first, second] = endpoint.at(tool.path).map(({ receivedAt }) => receivedAt.getTime());
      expect(second! - first!).toBeGreaterThanOrEqual(690);
      expect((await service.api.get(`/api/tools/${tool.id}`)).body).toMatchObject({
        tested_at: expect.any(String),
      });
      await service.api.delete(`/api/tools/${tool.id}`);
    },
  );

  it('that waits for approval waits on, and runs once when it is approved', async () => {
    const tool = await define('HTTP', 'water_garden', { ask_before_running: true });
    await makeLive(service.api, tool);
    const { call, conversationId, customer } = await park(tool);
    endpoint.forget();
    await service.crashAndRestart();
    expect((await service.api.get(`/api/tool-calls/${call.tool_call_id}`)).body).toEqual(call);
    expect(
      (await service.api.get(`/api/conversations/${conversationId}`)).body.pending_approvals,
    ).toBe(1);
    expect(endpoint.at(tool.path)).toHaveLength(0);
    expect(
      (await service.api.post(`/api/tool-calls/${call.tool_call_id}/approve`, {})).status,
    ).toBe(200);
    await agentSays(customer, 2);
    expect(idsAt(tool)).toEqual([call.tool_call_id]);
  });

  it('is given the time to end when the process is told to stop', async () => {
    const tools = [await define('Webhook', 'wash_window'), await define('HTTP', 'sell_guitar')];
    const slow: Answer = (_request, response) =>
      void setTimeout(
        () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}'),
        700,
      );
    const answers = tools.map((tool) => {
      endpoint.answer(tool.path, slow);
      return service.api.post(`/api/tools/${tool.id}/test`, {});
    });
    await Promise.all(tools.map((tool) => seen(tool, 1)));
    await service.restart();
    for (const answer of answers)
      expect(['running', 'succeeded']).toContain((await answer).body.status);
    for (const tool of tools) {
      expect(await ended(tool)).toMatchObject({ status: 'succeeded', attempts: 1 });
      expect(endpoint.at(tool.path)).toHaveLength(1);
    }
  });

  it('without an end is not waited for when the process is told to stop; it goes on as after a crash', async () => {
    const { restarted, service, endpoint, hook, api } = stubborn;
    expect(await restarted).toBeLessThan(ATTEMPT_S * 1000);
    expect(await callIn(service.api, `tool=${hook.name}`, 'succeeded')).toMatchObject({
      attempts: 2,
    });
    expect(await callIn(service.api, `tool=${api.name}`, 'failed')).toMatchObject({
      attempts: 1,
      error: { type: 'interrupted' },
    });
    expect([endpoint.at(hook.path).length, endpoint.at(api.path).length]).toEqual([2, 1]);
    const [first, second] = endpoint.envelopes(hook.path);
    expect([second, endpoint.faults]).toEqual([first, []]);
  });
});

/** What a stop would wait for if it waited for the attempts: the longest that a tool may have. */
const ATTEMPT_S = 60;

interface Stubborn {
  service: ServiceProcess;
  endpoint: ToolEndpoint;
  hook: DefinedTool;
  api: DefinedTool;
  /** How long the stop and the start took. */
  restarted: Promise<number>;
}

/**
 * A stop gives calls ten seconds to end: it is begun before the other tests and looked at after
 * them.
 */
async function stopDuringCallsWithoutEnd(caFile: string): Promise<Stubborn> {
  const endpoint = await startToolEndpoint();
  const service = await startServiceProcess({ caFile });
  const hook = await endpoint.define(service.api, { name: 'find_order', timeout: ATTEMPT_S });
  const api = await endpoint.defineHttp(service.api, { name: 'book_table', timeout: ATTEMPT_S });
  endpoint.answer(hook.path, hang, 200);
  endpoint.answer(api.path, hang);
  for (const { id } of [hook, api])
    void service.api.post(`/api/tools/${id}/test`, {}).catch(() => {});
  await waitFor('both calls', () => endpoint.requests.length === 2);
  const startedAt = performance.now();
  const restarted = service.restart().then(() => performance.now() - startedAt);
  restarted.catch(() => {});
  return { service, endpoint, hook, api, restarted };
}
