import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { SENTENCES } from '../../../service/src/agent/keyword/sentences.ts';
import type { ApiAnswer } from '../../helpers/apiClient.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
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
import { callIdsAt, type Kind } from './toolService.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are looked at field by field
type Json = any;

const ONE_TOOL_AT_ONCE = 16;

/** How long the second attempt waits after a 5xx. The process dies in that time. */
const RETRY_MS = 2_000;
/** The time-out of the tools that a stopping service must not wait for. */
const ATTEMPT_S = 60;
const NEEDS_APPROVAL = { ask_before_running: true };

describe('a call of a tool in a process that dies', () => {
  let tls: TlsFiles;
  let service: ServiceProcess;
  let endpoint: ToolEndpoint;
  let stopped: Stopped;
  let killed: Awaited<ReturnType<typeof killDuringCalls>>;

  beforeAll(async () => {
    tls = await writeTlsFiles(await sharedTestCa());
    endpoint = await startToolEndpoint();
    stopped = await stopDuringCalls();
    service = await startServiceProcess({
      caFile: tls.caFile,
      env: { TOOL_RETRY_DELAYS_MS: `${RETRY_MS},20`, AGENT_QUIET_MS: '0' },
    });
    killed = await killDuringCalls();
  });
  afterEach(() => expect([...endpoint.faults, ...stopped.endpoint.faults]).toEqual([]));
  afterAll(async () => {
    await service?.close();
    await stopped?.restarted;
    await stopped?.service.stop();
    await stopped?.endpoint.close();
    await endpoint?.close();
    await tls?.remove();
  });

  const define = (kind: Kind, name: string, fields: Json = {}): Promise<DefinedTool> => {
    const defineKind = kind === 'Webhook' ? endpoint.define : endpoint.defineHttp;
    return defineKind(service.api, { name, timeout: 60, ...fields });
  };
  const defineLive = async (kind: Kind, name: string, fields: Json = {}) => {
    const tool = await define(kind, name, fields);
    await makeLive(service.api, tool);
    return tool;
  };
  /** Begins a test call that is never answered, since the process dies first. */
  const beginTest = ({ id }: DefinedTool) =>
    void service.api.post(`/api/tools/${id}/test`, {}).catch(() => {});
  const untilRequest = (tool: DefinedTool, requests: number) =>
    waitFor(`request ${requests}`, () => endpoint.at(tool.path).length >= requests, { everyMs: 5 });
  const idsAt = (tool: DefinedTool) => callIdsAt(endpoint, tool);
  /** Waits for the end of a tool's test call. */
  const endedTest = (tool: DefinedTool): Promise<Json> =>
    callIn(
      service.api,
      `tool=${tool.name}&conversation_id=conv_test`,
      'succeeded',
      'failed',
      'cancelled',
    );
  const requestApproval = async (tool: DefinedTool) => {
    const asked = await ask(service.url, tool);
    const call = await callIn(
      service.api,
      `conversation_id=${asked.conversationId}`,
      'pending_approval',
    );
    expect(await agentSays(asked.customer)).toBe(SENTENCES.waitingForApproval.en);
    return { ...asked, tool, call };
  };
  const approve = ({ call }: { call: Json }, body: Json = {}) =>
    service.api.post(`/api/tool-calls/${call.tool_call_id}/approve`, body);

  /** Brings calls into each state in which the process may die, and kills it. */
  async function killDuringCalls() {
    const full = await defineLive('Webhook', 'find_order', NEEDS_APPROVAL);
    const quick = await defineLive('Webhook', 'wash_window', NEEDS_APPROVAL);
    const patient = await defineLive('HTTP', 'water_garden', NEEDS_APPROVAL);
    const hook = await defineLive('Webhook', 'check_stock');
    const api = await defineLive('HTTP', 'rent_bicycle');
    const draft = await define('HTTP', 'paint_fence');
    const silent = await define('Webhook', 'book_table');
    const betweenAttempts = {
      Webhook: await define('Webhook', 'track_parcel'),
      HTTP: await define('HTTP', 'sell_guitar'),
    };
    endpoint.forget();

    const [queued, decided, waiting] = [
      await requestApproval(full),
      await requestApproval(quick),
      await requestApproval(patient),
    ];
    endpoint.answer(full.path, ...Array<Answer>(ONE_TOOL_AT_ONCE).fill(hang));
    // As many calls as a tool may have at once: the approved call has to wait.
    for (let n = 0; n < ONE_TOOL_AT_ONCE; n++) beginTest(full);
    await untilRequest(full, ONE_TOOL_AT_ONCE);
    const approved = await approve(queued, { note: 'Go.' });

    endpoint.answer(hook.path, hang, { json: { message: 'Five are left.' } });
    for (const { path } of [api, draft, silent]) endpoint.answerAlways(path, hang);
    const byAgent = {
      hook: { tool: hook, ...(await ask(service.url, hook)) },
      api: { tool: api, ...(await ask(service.url, api)) },
    };
    await service.api.post(`/api/tools/${draft.id}/go-live`, { arguments: {} });
    beginTest(silent);
    for (const tool of [hook, api, draft, silent]) await untilRequest(tool, 1);

    for (const tool of Object.values(betweenAttempts)) {
      endpoint.answer(tool.path, 500);
      beginTest(tool);
    }
    for (const { name } of Object.values(betweenAttempts))
      await waitFor('the attempt on record', async () => {
        const [call] = (await service.api.get(`/api/tool-calls?tool=${name}`)).body.data;
        return call?.http_status === 500;
      });
    await approve(decided);
    await service.crashAndRestart();
    return { queued, approved, decided, waiting, byAgent, draft, silent, betweenAttempts };
  }

  it('runs exactly once under its id when it was approved and the process died before it could begin', async () => {
    const { status, body } = killed.approved;
    expect([status, body.status, body.attempts]).toEqual([200, 'running', 0]);
    const { tool, call, customer, conversationId } = killed.queued;
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

  it('is neither lost nor made under another id when the process dies right after the approval', async () => {
    const { tool, call, conversationId } = killed.decided;
    const { attempts } = await callIn(
      service.api,
      `conversation_id=${conversationId}`,
      'succeeded',
    );
    expect(new Set(idsAt(tool))).toEqual(new Set([call.tool_call_id]));
    expect(idsAt(tool).length).toBeLessThanOrEqual(attempts);
    expect(attempts).toBeLessThanOrEqual(2);
  });

  it('of the agent resumes and succeeds, and the agent says so once', async () => {
    const { tool, customer, conversationId } = killed.byAgent.hook;
    const call = await callIn(service.api, `conversation_id=${conversationId}`, 'succeeded');
    expect(call.attempts).toBe(2);
    expect(idsAt(tool)).toEqual([call.tool_call_id, call.tool_call_id]);
    expect(await agentSays(customer)).toBe('Five are left.');
    expect(await saidByAgent(customer)).toHaveLength(1);
  });

  it('of the HTTP kind fails as interrupted and is not sent again; the customer is told', async () => {
    const { tool, customer, conversationId } = killed.byAgent.api;
    const { draft } = killed;
    expect(await callIn(service.api, `conversation_id=${conversationId}`, 'failed')).toMatchObject({
      attempts: 1,
      http_status: null,
      error: { type: 'interrupted' },
    });
    expect(await agentSays(customer)).toBe(SENTENCES.toolFailed.en);
    const left = await waitFor('the draft to have stopped going live', async () => {
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
    'makes its next attempt when it is due, although the process died in between (%s)',
    async (kind) => {
      const tool = killed.betweenAttempts[kind];
      const call = await endedTest(tool);
      expect(call).toMatchObject({ status: 'succeeded', attempts: 2, error: null });
      expect(idsAt(tool)).toEqual([call.tool_call_id, call.tool_call_id]);
      const [first, second] = endpoint.at(tool.path).map(({ receivedAt }) => receivedAt.getTime());
      expect(second! - first!).toBeGreaterThanOrEqual(RETRY_MS - 10);
      expect((await service.api.get(`/api/tools/${tool.id}`)).body).toMatchObject({
        tested_at: expect.any(String),
      });
    },
  );

  it('that waits for approval goes on waiting, and runs once when it is approved', async () => {
    const { tool, call, conversationId, customer } = killed.waiting;
    expect((await service.api.get(`/api/tool-calls/${call.tool_call_id}`)).body).toEqual(call);
    expect(
      (await service.api.get(`/api/conversations/${conversationId}`)).body.pending_approvals,
    ).toBe(1);
    expect(endpoint.at(tool.path)).toHaveLength(0);
    expect((await approve(killed.waiting)).status).toBe(200);
    await agentSays(customer, 2);
    expect(idsAt(tool)).toEqual([call.tool_call_id]);
  });

  it('of the Webhook kind resumes under its id with the attempts that are left, three in all', async () => {
    const tool = killed.silent;
    for (const n of [2, 3]) {
      await untilRequest(tool, n);
      const [call] = (await service.api.get(`/api/tool-calls?tool=${tool.name}`)).body.data;
      expect([call.status, call.attempts]).toEqual(['running', n]);
      if (n === 2) await service.crashAndRestart();
      else await service.crashAndStartHere();
    }
    const call = await endedTest(tool);
    expect(call).toMatchObject({ status: 'failed', attempts: 3, error: { type: 'interrupted' } });
    expect(idsAt(tool)).toEqual(Array(3).fill(call.tool_call_id));
    expect((await service.api.get(`/api/tools/${tool.id}`)).body).toMatchObject({
      status: 'draft',
      tested_at: null,
      last_test: { tool_call_id: call.tool_call_id, succeeded: false },
    });
  });

  it('is given the time to end when the service is told to stop', async () => {
    const { restarted, slow, answers, service, endpoint } = stopped;
    await restarted;
    for (const answer of answers)
      expect(['running', 'succeeded']).toContain((await answer).body.status);
    for (const { name, path } of slow) {
      expect(await callIn(service.api, `tool=${name}`, 'succeeded')).toMatchObject({ attempts: 1 });
      expect(endpoint.at(path)).toHaveLength(1);
    }
  });

  it('that does not end holds up no stop of the service, and goes on as after a crash', async () => {
    const { restarted, service, endpoint, hook, api } = stopped;
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
    expect(second).toEqual(first);
  });
});

interface Stopped {
  service: TestService;
  endpoint: ToolEndpoint;
  /** Tools whose calls end while the service stops. */
  slow: readonly DefinedTool[];
  /** The answers to those calls. */
  answers: readonly Promise<ApiAnswer>[];
  /** Tools whose first call never ends. */
  hook: DefinedTool;
  api: DefinedTool;
  /** How many ms the stop and the start took. */
  restarted: Promise<number>;
}

/**
 * Begins a stop of a service that has calls under way. A stop gives calls ten seconds to end, so it
 * is begun before the other tests and checked after them.
 */
async function stopDuringCalls(): Promise<Stopped> {
  const endpoint = await startToolEndpoint();
  const service = await startTestService({ ca: endpoint.ca });
  const hook = await endpoint.define(service.api, { name: 'find_order', timeout: ATTEMPT_S });
  const api = await endpoint.defineHttp(service.api, { name: 'book_table', timeout: ATTEMPT_S });
  const slow = [
    await endpoint.define(service.api, { name: 'wash_window', timeout: ATTEMPT_S }),
    await endpoint.defineHttp(service.api, { name: 'sell_guitar', timeout: ATTEMPT_S }),
  ];
  const testCall = ({ id }: DefinedTool) => service.api.post(`/api/tools/${id}/test`, {});
  endpoint.answer(hook.path, hang, 200);
  endpoint.answer(api.path, hang);
  for (const tool of [hook, api]) void testCall(tool).catch(() => {});
  const answerLate: Answer = (_request, response) =>
    void setTimeout(
      () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}'),
      700,
    );
  for (const { path } of slow) endpoint.answer(path, answerLate);
  const answers = slow.map(testCall);
  await waitFor('all calls', () => endpoint.requests.length === 4);
  const startedAt = performance.now();
  const restarted = service.restart().then(() => performance.now() - startedAt);
  for (const promise of [restarted, ...answers]) promise.catch(() => {}); // the tests await them later
  return { service, endpoint, slow, answers, hook, api, restarted };
}
