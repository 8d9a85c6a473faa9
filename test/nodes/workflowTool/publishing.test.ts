import { describe, expect, it } from '@jest/globals';
import { waitFor } from '../../helpers/waitFor.ts';
import { failureOf, listenToLog } from '../helpers/n8n.ts';
import { heldBack } from '../helpers/signedCalls.ts';
import { freeAddress } from '../helpers/strangers.ts';
import {
  call,
  change,
  define,
  elsewhere,
  newestCall,
  untilLive,
  untilTested,
  published,
  stage,
  stored,
  theTool,
  trigger,
  type Tool,
  FIELDS,
} from '../helpers/toolStage.ts';
import type { Json, Trigger, TriggerOptions } from '../helpers/webhookHost.ts';

const log = listenToLog();

describe('Publishing', () => {
  it('registers the tool, keeps its secret, and the tool goes live after the test call', async () => {
    const { production: side } = await published({ timeout: 20, askBeforeRunning: true });
    const tool = await theTool();
    expect(tool).toMatchObject({
      name: 'find_order',
      description: 'Finds an order.',
      kind: 'Webhook',
      endpoint: side.url,
      timeout: 20,
      ask_before_running: true,
      parameters: {
        type: 'object',
        properties: { order_number: { type: 'string' } },
        required: ['order_number'],
        additionalProperties: false,
      },
      last_test: { succeeded: true, error: null },
    });
    expect(stored(side)).toEqual({
      name: 'find_order',
      revision: 1,
      secret: expect.stringMatching(/^whsec_/),
    });
    expect(tool.owner).toEqual({
      instance_id: expect.stringMatching(/./),
      workflow_id: expect.stringMatching(/^workflow-/),
      workflow_name: 'Test',
      node_id: expect.stringMatching(/^node-/),
      host: new URL(side.url).host,
    });
    expect(side.executions).toEqual([
      {
        tool_call_id: expect.stringMatching(/^call_/),
        tool: 'find_order',
        arguments: { order_number: 'sample' },
        args: { order_number: 'sample' },
        conversation_id: 'conv_test',
        is_test: true,
      },
    ]);
  });

  it('makes the test call with the arguments that were entered', async () => {
    const { production: side } = await published({ sampleArguments: '{"order_number":"A-1042"}' });
    expect(side.executions[0]).toMatchObject({ arguments: { order_number: 'A-1042' } });
  });

  it('does not wait for the test call', async () => {
    const { production: side } = trigger();
    const { started, finish } = heldBack(side);
    await side.activate();
    await started;
    expect(await theTool()).toMatchObject({ status: 'draft', going_live: true });
    await finish(200, {});
    await untilLive();
  });

  it('answers 503 until n8n has stored the secret, and goes live then', async () => {
    const { production: side } = trigger();
    side.isRegistered = true;
    await side.create();
    const known = side.staticData;
    side.staticData = {};
    await waitFor('a refusal', async () => (await newestCall())?.http_status === 503);
    expect(side.executions).toEqual([]);
    side.staticData = known;
    await untilLive();
    expect(side.executions).toHaveLength(1);
  });

  it('again changes nothing: one request, and the tool is live under the same secret', async () => {
    const { production: side } = await published();
    const [tool, { secret }] = [await theTool(), stored(side)];
    stage.wire.seen.length = 0;
    await side.activate();
    expect(stage.wire.seen.map(({ method }) => method)).toEqual(['PUT']);
    expect(await theTool()).toMatchObject({ id: tool.id, status: 'live' });
    expect(stored(side)).toEqual({ name: 'find_order', revision: 2, secret });
    expect(side.executions).toHaveLength(1);
  });

  it('again because n8n starts again leaves a tool paused that an owner paused', async () => {
    const { production: side } = await published();
    const { id } = await theTool();
    await stage.service.api.post(`/api/tools/${id}/pause`);
    await side.restart();
    expect(await theTool()).toMatchObject({ id, status: 'paused', going_live: false });
    expect(stored(side)).toMatchObject({ revision: 2 });
    expect(side.executions).toHaveLength(1);
  });

  it('again because n8n starts again leaves it paused, also after a try that could not reach the service', async () => {
    const { production: side } = await published();
    const { id } = await theTool();
    await stage.service.api.post(`/api/tools/${id}/pause`);
    const { credential } = stage;
    stage.credential = { baseUrl: await freeAddress(), apiKey: 'k' };
    await failureOf(side.restart());
    // n8n calls delete after a create that failed.
    expect(await side.delete()).toBe(false);
    stage.credential = credential;
    await side.restart();
    expect(await theTool()).toMatchObject({ id, status: 'paused', going_live: false });
  });

  it('again because n8n starts again, twice, leaves it paused when its secret was rotated since', async () => {
    const { production: side } = await published();
    const { id } = await theTool();
    await stage.service.api.post(`/api/tools/${id}/pause`);
    await stage.service.api.post(`/api/tools/${id}/rotate-secret`);
    await side.restart();
    await side.restart();
    expect(await theTool()).toMatchObject({ id, status: 'paused', going_live: false });
    await side.activate();
    await untilLive();
    expect(await call()).toMatchObject({ status: 'succeeded' });
  });

  it.each<[string, (trigger: Trigger, tool: Tool) => unknown, Json?]>([
    ['it is paused', (_, { id }) => stage.service.api.post(`/api/tools/${id}/pause`)],
    ['it was deleted', (_, { id }) => stage.service.api.delete(`/api/tools/${id}`)],
    [
      'its description was changed at the service',
      (_, { id }) => stage.service.api.patch(`/api/tools/${id}`, { description: 'Else.' }),
    ],
    [
      'its address was changed at the service',
      (_, { id }) => stage.service.api.patch(`/api/tools/${id}`, { endpoint: elsewhere() }),
    ],
    ['the secret was lost', ({ production }) => void delete stored(production).secret],
    ['a field was changed here', (changed) => change(changed, { timeout: 30 })],
    [
      'the parameters were changed here',
      (changed) => change(changed, { parameters: { fields: [...FIELDS, { name: 'more' }] } }),
      { order_number: 'A', more: 'B' },
    ],
  ])('again repairs the tool when %s', async (_what, damage, args = { order_number: 'A' }) => {
    const made = await published();
    await damage(made, await theTool());
    await made.production.activate();
    await untilLive();
    expect(await theTool()).toMatchObject({
      endpoint: made.production.url,
      description: 'Finds an order.',
    });
    expect(await call('find_order', args)).toMatchObject({
      status: 'succeeded',
      result: { found: true },
    });
  });

  it('after unpublishing is live at once, under the same secret, without another test call', async () => {
    const { production: side } = await published();
    const { name, secret } = stored(side);
    expect(await side.deactivate()).toBe(true);
    expect(await theTool()).toMatchObject({ status: 'paused' });
    expect(stored(side)).toEqual({ name, secret });
    await side.activate();
    expect(await theTool()).toMatchObject({ status: 'live' });
    expect(stored(side)).toEqual({ name, secret, revision: 2 });
    expect(side.executions).toHaveLength(1);
  });

  it('keeps tool and secret when the parameters change, and has it tested again', async () => {
    const made = await published();
    const { id } = await theTool();
    const { secret } = stored(made.production);
    await made.production.deactivate();
    change(made, { parameters: { fields: [{ name: 'email' }] } });
    await made.production.activate();
    await untilLive();
    expect((await theTool()).id).toBe(id);
    expect(stored(made.production).secret).toBe(secret);
    expect(made.production.executions.map((each) => each.arguments)).toEqual([
      { order_number: 'sample' },
      { email: 'sample' },
    ]);
  });

  it('follows another name', async () => {
    const made = await published();
    const { id } = await theTool();
    change(made, { toolName: 'track_order' });
    await made.production.activate();
    await untilLive('track_order');
    expect(await theTool()).toMatchObject({ id, name: 'track_order' });
  });

  it('takes over the draft that has the new name, and removes its former tool', async () => {
    const made = await published();
    const draft = await define('track_order', elsewhere());
    change(made, { toolName: 'track_order' });
    await made.production.activate();
    await untilLive('track_order');
    expect(await theTool()).toMatchObject({ id: draft.id });
    expect(await call('track_order')).toMatchObject({ status: 'succeeded' });
  });

  it('registers again, with another credential, at another service', async () => {
    const other = await stage.startOtherService();
    const { production: side } = await published();
    await side.deactivate();
    stage.credential = { baseUrl: other.url, apiKey: other.apiKey };
    await side.activate();
    const there = async () => (await other.api.get('/api/tools')).body.data[0] as Tool;
    await waitFor('it to be live there', async () => (await there()).status === 'live');
    expect(await theTool()).toMatchObject({ status: 'paused' });
  });

  it('waits for n8n to store a secret that replaces a former one', async () => {
    const { production: side } = await published();
    await stage.service.api.delete(`/api/tools/${(await theTool()).id}`);
    const former = side.staticData;
    side.isRegistered = true;
    await side.create();
    const known = side.staticData;
    side.staticData = former;
    await waitFor('a refusal', async () => (await newestCall())?.http_status === 401);
    expect(await theTool()).toMatchObject({ status: 'draft', going_live: true });
    side.staticData = known;
    await untilLive();
  });

  it('is not undone by a late delete of an earlier publication', async () => {
    const { production: side } = await published();
    const before = side.staticData;
    await side.deactivate();
    await side.activate();
    const now = side.staticData;
    side.staticData = before;
    expect(await side.delete()).toBe(true);
    side.staticData = now;
    expect(await theTool()).toMatchObject({ status: 'live' });
    expect(await side.delete()).toBe(true);
    expect(await theTool()).toMatchObject({ status: 'paused' });
  });

  it('survives four tries whose answer is lost, each followed by delete, and goes live at the fifth', async () => {
    const { production: side } = trigger();
    side.isRegistered = true;
    for (let n = 1; n <= 4; n++) {
      stage.wire.loses = (method) => method === 'PUT';
      await failureOf(side.create());
      stage.wire.loses = () => false;
      expect(await side.delete()).toBe(true);
      expect(await theTool()).toMatchObject({ status: 'draft', going_live: false });
    }
    await side.create();
    await untilLive();
    expect(await call()).toMatchObject({ status: 'succeeded' });
  });

  it('heals a secret that was rotated at the service', async () => {
    const { production: side } = await published();
    await stage.service.api.post(`/api/tools/${(await theTool()).id}/rotate-secret`);
    expect(await call()).toMatchObject({ status: 'failed', http_status: 401 });
    await side.deactivate();
    await side.activate();
    await untilLive();
    expect(await call()).toMatchObject({ status: 'succeeded' });
  });

  it.each<[string, TriggerOptions['parameters']]>([
    ['the name', { toolName: 'Find order' }],
    ['the description', { toolDescription: '' }],
    ['the parameters', { parameters: { fields: [{ name: 'a b' }] } }],
    ['the sample', { sampleArguments: '[]' }],
    ['the sample, without a required parameter,', { sampleArguments: '{}' }],
    ['the sample, with an unknown parameter,', { sampleArguments: '{"order_number":"A","x":1}' }],
  ])('calls nothing when %s is not valid', async (_what, parameters) => {
    expect(await failureOf(trigger(parameters).production.activate())).toMatchObject({
      name: 'NodeOperationError',
      // What is wrong, and what to enter.
      message: expect.stringMatching(/\. (Begin|Enter) /),
    });
    expect(stage.wire.seen).toEqual([]);
  });

  it.each([false, true])('logs only that the agent is off (agent on: %s)', async (enabled) => {
    await stage.service.api.patch('/api/agent', { enabled });
    await published();
    expect([...log.errors, ...log.warnings]).toEqual([]);
    expect(log.infos).toEqual(
      enabled ? [] : [expect.stringMatching(/^The tool find_order is published. The agent is off/)],
    );
  });
});

describe('Unpublishing', () => {
  it('pauses when the static data is lost', async () => {
    const { production: side } = await published();
    side.staticData = {};
    expect(await side.deactivate()).toBe(true);
    expect(await theTool()).toMatchObject({ status: 'paused' });
  });

  it('succeeds when the tool is gone, and when it is called again', async () => {
    const { production: side } = await published();
    await stage.service.api.delete(`/api/tools/${(await theTool()).id}`);
    expect([await side.delete(), await side.delete()]).toEqual([true, true]);
    side.staticData = {};
    expect(await side.delete()).toBe(true);
  });

  it('never throws, neither when the service is away nor when a field is not valid', async () => {
    const made = await published();
    stage.credential = { baseUrl: await freeAddress(), apiKey: 'k' };
    expect(await made.production.delete()).toBe(false);
    made.production.staticData = {};
    change(made, { toolName: 'Not a name' });
    expect(await made.production.delete()).toBe(false);
  });

  it('stops a tool that is about to go live', async () => {
    const { production: side } = trigger();
    const { started, finish } = heldBack(side);
    await side.activate();
    await started;
    await side.deactivate();
    await finish(200, {});
    await untilTested();
    expect(await theTool()).toMatchObject({ status: 'draft', going_live: false });
  });
});
