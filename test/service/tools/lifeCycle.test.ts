import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SENTENCES } from '../../../service/src/agent/keyword/sentences.ts';
import { signatureFault } from '../../helpers/eventReceiver.ts';
import {
  agentSays,
  ask,
  callIn,
  makeLive,
  wakeToolCalls,
  type DefinedTool,
} from '../../helpers/toolEndpoint.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  defineTool,
  endpoint,
  holdNext,
  removeTools,
  service,
  useToolService,
  type Kind,
} from './toolService.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are looked at field by field
type Json = any;

describe('the life of a tool', () => {
  /** Stands still unless a test moves it. */
  let now = Date.now();
  useToolService({ clock: { now: () => new Date(now) } });
  beforeEach(() => endpoint.forget());
  afterEach(async () => {
    expect(endpoint.faults).toEqual([]);
    await removeTools();
  });

  const read = async ({ id }: DefinedTool): Promise<Json> =>
    (await service.api.get(`/api/tools/${id}`)).body;
  const testCall = async ({ id }: DefinedTool, args: Json = {}): Promise<Json> =>
    (await service.api.post(`/api/tools/${id}/test`, { arguments: args })).body;
  const goLive = ({ id }: DefinedTool, body: Json = {}) =>
    service.api.post(`/api/tools/${id}/go-live`, body);
  const until = (tool: DefinedTool, what: string, holds: (shown: Json) => boolean) =>
    waitFor(
      what,
      async () => {
        const shown = await read(tool);
        return holds(shown) ? shown : null;
      },
      { everyMs: 5 },
    );
  const untilRequest = (tool: DefinedTool, requests: number) =>
    waitFor(`request ${requests}`, () => endpoint.at(tool.path).length >= requests, { everyMs: 5 });

  const untilLive = (tool: DefinedTool) =>
    until(tool, 'going live', ({ status }) => status === 'live');
  const pause = ({ id }: DefinedTool) => service.api.post(`/api/tools/${id}/pause`);
  const edit = ({ id }: DefinedTool, changes: Json) =>
    service.api.patch(`/api/tools/${id}`, changes);

  /** Lets a new tool go live, and holds its test call. @returns the tool, and what answers the call */
  const beginGoingLive = async () => {
    const tool = await defineTool();
    const letGo = holdNext(tool.path);
    await goLive(tool, { arguments: {} });
    await untilRequest(tool, 1);
    return { tool, letGo };
  };

  /** Moves the clock, and has the service look for calls that are due. */
  const later = async (ms: number) => {
    now += ms;
    await wakeToolCalls(service.api, endpoint);
  };
  /** Waits until the newest call of a tool has recorded an attempt with this status. */
  const untilAttempt = (tool: DefinedTool, httpStatus: number, attempts?: number) =>
    waitFor(`an attempt with ${httpStatus} on record`, async () => {
      const [call] = (await service.api.get(`/api/tool-calls?tool=${tool.name}`)).body.data;
      return (
        call?.http_status === httpStatus && (attempts === undefined || call.attempts === attempts)
      );
    });
  /** Moves the clock until the request after the first `requests` has arrived. */
  const bringNextAttempt = async (tool: DefinedTool, requests: number) => {
    await untilRequest(tool, requests);
    await waitFor('the next attempt', async () => {
      await later(20);
      return endpoint.at(tool.path).length > requests;
    });
  };

  describe('needs one successful test call to go live', () => {
    it('is refused untested, and after calls that failed', async () => {
      const tool = await defineTool();
      expect((await goLive(tool)).body.error).toMatchObject({ code: 'tool_not_tested' });
      endpoint.answer(tool.path, 404);
      expect((await testCall(tool)).status).toBe('failed');
      const refused = await goLive(tool);
      expect([refused.status, refused.body.error.code]).toEqual([409, 'tool_not_tested']);
      expect(await read(tool)).toMatchObject({
        status: 'draft',
        tested_at: null,
        last_test: { succeeded: false, error: expect.stringContaining('404') },
      });
      expect(endpoint.at(tool.path)).toHaveLength(1);
    });

    it.each(['Webhook', 'HTTP'] as const)(
      'goes live at once after one that succeeded, without another (%s)',
      async (kind) => {
        const tool = await defineTool(kind);
        const call = await testCall(tool);
        expect(await read(tool)).toMatchObject({
          status: 'draft',
          tested_at: expect.any(String),
          last_test: { tool_call_id: call.tool_call_id, succeeded: true, error: null },
        });
        const live = await goLive(tool);
        expect([live.status, live.body.status, live.body.going_live]).toEqual([202, 'live', false]);
        expect(endpoint.at(tool.path)).toHaveLength(1);
        expect((await goLive(tool, { arguments: {} })).body.status).toBe('live');
        expect(endpoint.at(tool.path)).toHaveLength(1);
      },
    );

    it('stays as it is when a later test fails', async () => {
      const tool = await defineTool();
      await testCall(tool);
      endpoint.answer(tool.path, 400);
      await testCall(tool);
      expect(await read(tool)).toMatchObject({
        tested_at: expect.any(String),
        last_test: { succeeded: false },
      });
      expect((await goLive(tool)).body.status).toBe('live');
      endpoint.answer(tool.path, 400);
      await testCall(tool);
      expect(await read(tool)).toMatchObject({ status: 'live' });
    });

    it('is not called by the agent as a draft or while it is paused', async () => {
      const [draft, paused] = [await defineTool(), await defineTool()];
      await testCall(draft);
      await makeLive(service.api, paused);
      await pause(paused);
      await service.api.patch('/api/agent', { enabled: true });
      endpoint.forget();
      for (const tool of [draft, paused]) {
        const { customer, conversationId } = await ask(service.url, tool);
        await agentSays(customer);
        expect(
          (await service.api.get(`/api/tool-calls?conversation_id=${conversationId}`)).body.data,
        ).toEqual([]);
      }
      expect(endpoint.requests).toHaveLength(0);
    });

    it('gets no further attempt from the agent once it is paused', async () => {
      const tool = await defineTool();
      await makeLive(service.api, tool);
      await service.api.patch('/api/agent', { enabled: true });
      endpoint.forget();
      endpoint.answer(tool.path, 500);
      const { customer, conversationId } = await ask(service.url, tool);
      await untilAttempt(tool, 500);
      await pause(tool);
      await later(20);
      expect(await agentSays(customer)).toBe(SENTENCES.toolFailed.en);
      expect(
        await callIn(service.api, `conversation_id=${conversationId}`, 'cancelled'),
      ).toMatchObject({ attempts: 1, http_status: 500 });
      expect(endpoint.at(tool.path)).toHaveLength(1);
    });
  });

  describe('going live with arguments', () => {
    it('answers 202 before the call has ended, and is live after it has succeeded', async () => {
      const tool = await defineTool('Webhook', {
        parameters: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
      });
      const letGo = holdNext(tool.path);
      const { status, body } = await goLive(tool, { arguments: { n: 7 } });
      expect([status, body.status, body.going_live]).toEqual([202, 'draft', true]);
      await letGo();
      const live = await untilLive(tool);
      expect(live).toMatchObject({
        going_live: false,
        tested_at: expect.any(String),
        last_test: { succeeded: true },
      });
      expect(endpoint.envelopes(tool.path)).toEqual([
        {
          tool_call_id: live.last_test.tool_call_id,
          tool: tool.name,
          arguments: { n: 7 },
          conversation_id: 'conv_test',
        },
      ]);
    });

    it.each([[404], [500, 500, 500]])(
      'leaves the draft with the reason after %j',
      async (...answers) => {
        const tool = await defineTool();
        endpoint.answer(tool.path, ...answers);
        await goLive(tool, { arguments: {} });
        for (let n = 1; n < answers.length; n++) await bringNextAttempt(tool, n);
        const draft = await until(tool, 'the end', (shown) => shown.last_test !== null);
        expect(draft).toMatchObject({
          status: 'draft',
          going_live: false,
          tested_at: null,
          last_test: { succeeded: false, error: expect.stringContaining(String(answers[0])) },
        });
        expect(endpoint.at(tool.path)).toHaveLength(answers.length);
        expect((await goLive(tool)).status).toBe(409);
      },
    );

    it('waits for a 503 to pass: n8n knows a new secret only a moment after registration', async () => {
      const tool = await defineTool();
      endpoint.answer(tool.path, 503, 503, 503, 503, 503);
      await goLive(tool, { arguments: {} });
      for (let n = 1; n <= 5; n++) {
        await untilRequest(tool, n);
        expect(await read(tool)).toMatchObject({ status: 'draft', going_live: true });
        await callIn(service.api, `tool=${tool.name}`, 'running');
        await untilAttempt(tool, 503);
        await later(2000);
      }
      await untilLive(tool);
      expect(endpoint.at(tool.path)).toHaveLength(6);
      expect(
        new Set(endpoint.envelopes(tool.path).map((envelope) => envelope.tool_call_id)).size,
      ).toBe(1);
    });

    it('goes on waiting after a restart', async () => {
      const tool = await defineTool();
      endpoint.answer(tool.path, 503);
      await goLive(tool, { arguments: {} });
      await untilAttempt(tool, 503);
      await service.restart();
      await later(2000);
      await untilLive(tool);
      expect(endpoint.at(tool.path)).toHaveLength(2);
    });

    it('gives up on a 503 after sixty seconds, with the reason', async () => {
      const tool = await defineTool();
      endpoint.answerAlways(tool.path, 503);
      await goLive(tool, { arguments: {} });
      await untilAttempt(tool, 503, 1);
      await later(57_900);
      await untilAttempt(tool, 503, 2);
      expect((await read(tool)).going_live).toBe(true);
      await later(2_000);
      const draft = await until(tool, 'giving up', (shown) => !shown.going_live);
      expect(draft).toMatchObject({
        status: 'draft',
        tested_at: null,
        last_test: { succeeded: false, error: expect.stringContaining('503') },
      });
      expect(endpoint.at(tool.path)).toHaveLength(3);
    });

    it('a test call does not wait like that: it treats 503 like any 5xx', async () => {
      const tool = await defineTool();
      endpoint.answer(tool.path, 503, 503, 503, 200);
      const testing = testCall(tool);
      for (let n = 1; n < 3; n++) await bringNextAttempt(tool, n);
      expect(await testing).toMatchObject({ status: 'failed', attempts: 3 });
      expect(endpoint.at(tool.path)).toHaveLength(3);
    });

    it('is called off by a pause; its test call still counts', async () => {
      const { tool, letGo } = await beginGoingLive();
      expect((await pause(tool)).body).toMatchObject({
        status: 'draft',
        going_live: false,
      });
      await letGo();
      expect(await until(tool, 'the test', (shown) => shown.tested_at !== null)).toMatchObject({
        status: 'draft',
        going_live: false,
      });
      expect((await goLive(tool)).body.status).toBe('live');
      expect(endpoint.at(tool.path)).toHaveLength(1);
    });

    it('is called off by an edit, since another definition was tested', async () => {
      const { tool, letGo } = await beginGoingLive();
      const parameters = { type: 'object', properties: { n: {} } };
      expect((await edit(tool, { parameters })).body).toMatchObject({
        status: 'draft',
        going_live: false,
      });
      await letGo();
      await callIn(service.api, `tool=${tool.name}`, 'succeeded');
      expect(await read(tool)).toMatchObject({
        status: 'draft',
        going_live: false,
        tested_at: null,
        last_test: null,
      });
      expect((await goLive(tool)).status).toBe(409);
    });

    it('is not called off by an edit that leaves the call as it is', async () => {
      const { tool, letGo } = await beginGoingLive();
      expect((await edit(tool, { description: 'Says more.' })).body.going_live).toBe(true);
      await letGo();
      expect(await untilLive(tool)).toMatchObject({ description: 'Says more.' });
    });

    it('ends with the tool when it is removed, and nothing is sent again', async () => {
      const { tool, letGo } = await beginGoingLive();
      await service.api.delete(`/api/tools/${tool.id}`);
      await letGo(500);
      await waitFor('the end', async () => {
        await later(20);
        return (
          (await service.api.get(`/api/tool-calls?tool=${tool.name}&status=cancelled`)).body.data
            .length === 1
        );
      });
      expect(endpoint.at(tool.path)).toHaveLength(1);
      expect((await service.api.get(`/api/tools/${tool.id}`)).status).toBe(404);
    });
  });

  describe('an edit', () => {
    const parameters = { type: 'object', properties: { n: { type: 'integer' } } };
    it.each<[string, Kind, (url: string) => unknown]>([
      ['name', 'Webhook', () => 'another_name'],
      ['parameters', 'Webhook', () => parameters],
      ['endpoint', 'Webhook', (url) => `${url}/other`],
      ['request_template', 'HTTP', (url) => ({ method: 'GET', url })],
      ['secrets', 'HTTP', () => ({ TOKEN: 'a-token-value' })],
    ])(
      'of %s makes a live tool a draft that has to be tested again',
      async (field, kind, newValue) => {
        const tool = await defineTool(kind);
        await makeLive(service.api, tool);
        const { body } = await edit(tool, { [field]: newValue(endpoint.url + tool.path) });
        expect(body).toMatchObject({
          status: 'draft',
          tested_at: null,
          last_test: null,
          going_live: false,
        });
        expect((await goLive(tool)).body.error.code).toBe('tool_not_tested');
        await makeLive(service.api, tool);
      },
    );

    it('of a paused tool does the same', async () => {
      const tool = await defineTool();
      await makeLive(service.api, tool);
      await pause(tool);
      await edit(tool, { name: 'another_name' });
      expect(await read(tool)).toMatchObject({ status: 'draft', tested_at: null });
    });

    it('of description, example_phrases, read_only, timeout or ask_before_running leaves it live; so does one that changes nothing', async () => {
      const tool = await defineTool();
      await makeLive(service.api, tool);
      const before = await read(tool);
      for (const change of [
        { description: 'Other words.' },
        { timeout: 5 },
        { read_only: true },
        { example_phrases: ['where is my order'] },
        { ask_before_running: true },
        { ask_before_running: false },
        {},
        { name: before.name, parameters: before.parameters, endpoint: before.endpoint },
      ]) {
        expect((await edit(tool, change)).body).toMatchObject({
          status: 'live',
          tested_at: before.tested_at,
          ...change,
        });
      }
      expect(endpoint.at(tool.path)).toHaveLength(1);
    });

    it('while a test call is under way leaves the new definition untested', async () => {
      const tool = await defineTool();
      const letGo = holdNext(tool.path);
      const testing = testCall(tool);
      await untilRequest(tool, 1);
      await edit(tool, { endpoint: `${endpoint.url}/new-place` });
      await letGo();
      expect((await testing).status).toBe('succeeded');
      expect(await read(tool)).toMatchObject({ status: 'draft', tested_at: null, last_test: null });
      expect((await goLive(tool)).status).toBe(409);
    });

    it('between two attempts ends the call, which is not made by another definition than the one it was made for', async () => {
      const tool = await defineTool();
      endpoint.answer(tool.path, 500);
      const testing = testCall(tool);
      await untilAttempt(tool, 500);
      await edit(tool, { endpoint: `${endpoint.url}/new-place` });
      await later(20);
      expect(await testing).toMatchObject({ status: 'cancelled', attempts: 1 });
      expect([endpoint.at(tool.path).length, endpoint.at('/new-place').length]).toEqual([1, 0]);
    });
  });

  it('pauses and goes live again without another test', async () => {
    const tool = await defineTool();
    await makeLive(service.api, tool);
    expect((await pause(tool)).body.status).toBe('paused');
    expect((await pause(tool)).body.status).toBe('paused');
    expect(
      (await service.api.get('/api/tools?status=paused')).body.data.map(({ id }: Json) => id),
    ).toEqual([tool.id]);
    expect((await goLive(tool)).body.status).toBe('live');
    expect((await pause(await defineTool())).body.status).toBe('draft');
    expect(endpoint.at(tool.path)).toHaveLength(1);
  });

  describe('a new signing secret', () => {
    it('signs from then on, alone, and leaves the tool live', async () => {
      const tool = await defineTool();
      await makeLive(service.api, tool);
      const { body } = await service.api.post(`/api/tools/${tool.id}/rotate-secret`);
      expect(body).toMatchObject({ status: 'live', secret: expect.stringMatching(/^whsec_/) });
      expect(body.secret).not.toBe(tool.secret);
      endpoint.verify(tool.path, body.secret);
      await testCall(tool);
      const request = endpoint.at(tool.path).at(-1)!;
      expect([signatureFault(request, body.secret), signatureFault(request, tool.secret!)]).toEqual(
        [null, expect.any(String)],
      );
      expect(String(request.headers['x-service-signature']).match(/v1=/g)).toHaveLength(1);
    });

    it('is refused for an HTTP tool, which has none', async () => {
      const tool = await defineTool('HTTP');
      const { status, body } = await service.api.post(`/api/tools/${tool.id}/rotate-secret`);
      expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    });
  });

  describe('while the agent is off', () => {
    beforeEach(() => service.api.patch('/api/agent', { enabled: false }));

    it('a tool goes live and says so, does not switch it on, and is not called', async () => {
      const tool = await defineTool();
      const goingLive = await goLive(tool, { arguments: {} });
      expect(goingLive.body.notice).toMatch(/^The agent is off, so it calls no tool. Turn it on/);
      await untilLive(tool);
      expect((await goLive(tool)).body).toMatchObject({
        status: 'live',
        notice: goingLive.body.notice,
      });
      expect((await service.api.get('/api/agent')).body.enabled).toBe(false);
      endpoint.forget();
      const { customer } = await ask(service.url, tool);

      await service.api.patch('/api/agent', { enabled: true });
      expect((await goLive(tool)).body.notice).toBeNull();
      endpoint.answer(tool.path, { json: { message: 'Found.' } });
      expect(await agentSays((await ask(service.url, tool)).customer)).toBe('Found.');
      expect(await customer.read()).toHaveLength(1);
      expect(endpoint.at(tool.path)).toHaveLength(1);
    });
  });
});
