import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { IDataObject } from 'n8n-workflow';
import { chatCustomer } from '../helpers/apiClient.ts';
import { startTestService, type TestService } from '../helpers/service.ts';
import { sharedTestCa } from '../helpers/tls.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { failureOf, listenToLog, TOOL_TRIGGER, type Credential } from './helpers/n8n.ts';
import { freeAddress, startWire, type Wire } from './helpers/strangers.ts';
import {
  startWebhookHost,
  type Json,
  type Side,
  type Trigger,
  type TriggerOptions,
  type WebhookHost,
} from './helpers/webhookHost.ts';

let service: TestService;
let host: WebhookHost;
let wire: Wire;
let credential: Credential;
beforeAll(async () => {
  const { ca } = await sharedTestCa();
  service = await startTestService({ ca, env: { TOOL_RETRY_DELAYS_MS: '10,20' } });
  wire = await startWire(() => service.url);
  host = await startWebhookHost(() => credential);
});
beforeEach(() => {
  credential = { baseUrl: wire.url, apiKey: service.apiKey };
  wire.seen.length = 0;
});
afterEach(async () => {
  wire.refuses = undefined;
  wire.before = undefined;
  for (const { id } of await tools()) await service.api.delete(`/api/tools/${id}`);
});
afterAll(async () => {
  await host.close();
  await wire.close();
  await service.stop();
});

interface Tool extends Json {
  id: string;
  name: string;
  status: 'draft' | 'live' | 'paused';
  endpoint: string;
  going_live: boolean;
  last_test: { succeeded: boolean; error: string | null } | null;
}
const tools = async (): Promise<Tool[]> =>
  (await service.api.get('/api/tools?limit=200')).body.data;
const named = async (name: string): Promise<Tool | undefined> =>
  (await tools()).find((tool) => tool.name === name);
const theTool = async (): Promise<Tool> => {
  const all = await tools();
  if (all.length !== 1) throw new Error(`expected one tool, there are ${all.length}`);
  return all[0]!;
};
const isLive = (name = 'find_order') =>
  waitFor(`${name} to be live`, async () => (await named(name))?.status === 'live');
const isTested = (name = 'find_order') =>
  waitFor(`the test of ${name}`, async () => {
    const tool = await named(name);
    return tool?.last_test && !tool.going_live && tool;
  });

type Stored = { name?: string; secret?: string; revision?: number; draftId?: string };
const stored = (side: Side): Stored => (side.staticData['node:Trigger'] ?? {}) as Stored;
const calls = (ending: string, method = 'POST') =>
  wire.seen.filter((each) => each.method === method && each.path.endsWith(ending));

const FIELDS = [{ name: 'order_number' }];
const PARAMETERS: TriggerOptions['parameters'] = {
  toolName: 'find_order',
  toolDescription: 'Finds an order.',
  parameters: { fields: FIELDS },
};
/** Answers as n8n does when the last node finishes. */
function trigger(
  parameters: TriggerOptions['parameters'] = {},
  options: Partial<TriggerOptions> = {},
): Trigger {
  const made = host.addTrigger({
    type: TOOL_TRIGGER,
    parameters: { ...PARAMETERS, ...parameters },
    ...options,
  });
  for (const side of [made.production, made.test]) {
    side.startExecution = (json, res) => {
      side.executions.push(json);
      res.status(200).json({ found: true });
    };
  }
  return made;
}
async function published(
  parameters?: TriggerOptions['parameters'],
  options?: Partial<TriggerOptions>,
): Promise<Trigger> {
  const made = trigger(parameters, options);
  await made.production.activate();
  await isLive(made.parameters.toolName as string);
  return made;
}
/** Has the service call a live tool, as its test does. */
const call = async (name = 'find_order', args: Json = { order_number: 'A-1042' }) =>
  (await service.api.post(`/api/tools/${(await named(name))!.id}/test`, { arguments: args }))
    .body as Json & { status: string };
const define = async (name: string, endpoint: string, changes: Json = {}): Promise<Tool> =>
  (
    await service.api.post('/api/tools', {
      name,
      description: 'Another.',
      kind: 'Webhook',
      endpoint,
      ...changes,
    })
  ).body;
const elsewhere = () => `${host.url}/webhook/elsewhere-${Math.random()}/tool`;

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
    expect((await theTool()).owner).toEqual({
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
    const end = Promise.withResolvers<true>();
    side.startExecution = async (json, res) => {
      side.executions.push(json);
      await end.promise;
      res.json({});
    };
    await side.activate();
    await waitFor('the test call', () => side.executions.length === 1);
    expect(await theTool()).toMatchObject({ status: 'draft', going_live: true });
    end.resolve(true);
    await isLive();
  });

  it('answers 503 until n8n has stored the secret, and goes live then', async () => {
    const { production: side } = trigger();
    side.isRegistered = true;
    await side.create();
    const known = side.staticData;
    side.staticData = {};
    const attempts = async () =>
      (await service.api.get('/api/tool-calls')).body.data[0]?.http_status as number | undefined;
    await waitFor('a refusal', async () => (await attempts()) === 503);
    expect(side.executions).toEqual([]);
    side.staticData = known;
    await isLive();
    expect(side.executions).toHaveLength(1);
  });

  it('again changes nothing: one call, and the tool is live under the same secret', async () => {
    const { production: side } = await published();
    const [tool, { secret }] = [await theTool(), stored(side)];
    wire.seen.length = 0;
    await side.activate();
    expect(wire.seen.map(({ method }) => method)).toEqual(['PUT']);
    expect(await theTool()).toMatchObject({ id: tool.id, status: 'live' });
    expect(stored(side)).toEqual({ name: 'find_order', revision: 2, secret });
    expect(side.executions).toHaveLength(1);
  });

  it.each<[string, (trigger: Trigger, tool: Tool) => unknown]>([
    ['it is paused', (_, { id }) => service.api.post(`/api/tools/${id}/pause`)],
    ['it was deleted', (_, { id }) => service.api.delete(`/api/tools/${id}`)],
    [
      'its description was changed at the service',
      (_, { id }) => service.api.patch(`/api/tools/${id}`, { description: 'Else.' }),
    ],
    [
      'its address was changed at the service',
      (_, { id }) => service.api.patch(`/api/tools/${id}`, { endpoint: elsewhere() }),
    ],
    ['the static data was lost', ({ production }) => void (production.staticData = {})],
    ['the secret was lost', ({ production }) => void delete stored(production).secret],
    [
      'a field was changed here',
      (changed) => void (changed.parameters = { ...changed.parameters, timeout: 30 }),
    ],
    [
      'the parameters were changed here',
      (changed) =>
        void (changed.parameters = {
          ...changed.parameters,
          parameters: { fields: [...FIELDS, { name: 'more' }] },
        }),
    ],
  ])('brings the tool back in order when %s', async (_what, change) => {
    const made = await published();
    await change(made, await theTool());
    await made.production.activate();
    await isLive();
    expect(await theTool()).toMatchObject({
      endpoint: made.production.url,
      description: 'Finds an order.',
    });
    const args =
      (made.parameters.parameters as { fields: IDataObject[] }).fields.length > 1
        ? { order_number: 'A', more: 'B' }
        : { order_number: 'A' };
    expect(await call('find_order', args)).toMatchObject({
      status: 'succeeded',
      result: { found: true },
    });
  });

  it('is cheap the second time: live at once, under the same secret, without another call', async () => {
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
    made.parameters = { ...made.parameters, parameters: { fields: [{ name: 'email' }] } };
    await made.production.activate();
    await isLive();
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
    made.parameters = { ...made.parameters, toolName: 'track_order' };
    await made.production.activate();
    await isLive('track_order');
    expect(await theTool()).toMatchObject({ id, name: 'track_order' });
  });

  it('follows another name that a draft has: takes that over, and removes its former tool', async () => {
    const made = await published();
    const draft = await define('track_order', elsewhere());
    made.parameters = { ...made.parameters, toolName: 'track_order' };
    await made.production.activate();
    await isLive('track_order');
    expect(await theTool()).toMatchObject({ id: draft.id });
    expect(await call('track_order')).toMatchObject({ status: 'succeeded' });
  });

  it('moves to another host, as after a change of WEBHOOK_URL, with the option to take over', async () => {
    const options: Partial<TriggerOptions> = { nodeId: 'node', workflowId: 'workflow' };
    await published({}, options);
    const { id } = await theTool();
    const moved = await startWebhookHost(() => credential);
    try {
      const made = moved.addTrigger({ type: TOOL_TRIGGER, parameters: PARAMETERS, ...options });
      const { production: side } = made;
      side.startExecution = (json, res) => {
        side.executions.push(json);
        res.json({});
      };
      expect(await failureOf(side.activate())).toMatchObject({
        httpCode: '409',
        message: expect.stringContaining(`of the n8n at ${new URL(host.url).host}`),
        description: expect.stringContaining('"Take Over From Another Instance"'),
      });
      made.parameters = { ...made.parameters, options: { takeOver: true } };
      await side.activate();
      await isLive();
      expect(await theTool()).toMatchObject({ id, endpoint: side.url });
      expect(side.executions).toHaveLength(1);
    } finally {
      await moved.close();
    }
  });

  it.each(['live', 'paused', 'draft'] as const)(
    'takes over a %s tool of its own address that is not known any more',
    async (status) => {
      const made = await published();
      const tool = await theTool();
      if (status === 'paused') await service.api.post(`/api/tools/${tool.id}/pause`);
      if (status === 'draft') await service.api.patch(`/api/tools/${tool.id}`, { parameters: {} });
      made.production.staticData = {};
      await made.production.activate();
      await isLive();
      expect(await theTool()).toMatchObject({ id: tool.id });
      expect(await call()).toMatchObject({ status: 'succeeded' });
    },
  );

  it('takes over a tool of another address that is not live, with a secret of its own', async () => {
    const other = await define('find_order', elsewhere());
    const { production: side } = await published();
    expect(await theTool()).toMatchObject({ id: other.id, endpoint: side.url });
    expect(stored(side).secret).not.toBe(other.secret);
    expect(await call()).toMatchObject({ status: 'succeeded' });
  });

  it('says who has a name that is live there, and leaves that tool alone', async () => {
    await published();
    const tool = await theTool();
    const second = trigger();
    const error = await failureOf(second.production.activate());
    expect(error).toMatchObject({
      name: 'NodeApiError',
      message: expect.stringContaining('published by the workflow "Test" of the n8n at'),
      description: expect.stringMatching(/Unpublish that workflow.*Tool → Pause.*"Tool Name"/),
    });
    // n8n calls delete after a create that failed.
    expect(await second.production.delete()).toBe(true);
    expect(await theTool()).toEqual(tool);
    expect(stored(second.production)).toEqual({});
  });

  it('says so when the name belongs to an HTTP tool', async () => {
    await service.api.post('/api/tools', {
      name: 'find_order',
      description: 'By HTTP.',
      kind: 'HTTP',
      request_template: { method: 'GET', url: `${host.url}/orders` },
    });
    const error = await failureOf(trigger().production.activate());
    expect(error).toMatchObject({
      name: 'NodeApiError',
      message: expect.stringContaining('belongs to an HTTP tool'),
      description: expect.stringContaining('Enter another "Tool Name"'),
    });
    expect(await theTool()).toMatchObject({ kind: 'HTTP', description: 'By HTTP.' });
  });

  it('registers anew, with another credential, at another service', async () => {
    const other = await startTestService({ ca: host.ca });
    try {
      const { production: side } = await published();
      await side.deactivate();
      credential = { baseUrl: other.url, apiKey: other.apiKey };
      await side.activate();
      const there = async () => (await other.api.get('/api/tools')).body.data[0] as Tool;
      await waitFor('it to be live there', async () => (await there()).status === 'live');
      expect(await theTool()).toMatchObject({ status: 'paused' });
    } finally {
      await other.stop();
    }
  });

  it('lets two copies of a workflow take turns', async () => {
    const original = await published();
    await original.production.deactivate();
    const copy = await published();
    await copy.production.deactivate();
    // Its secret was replaced by the copy's, and n8n still holds it when the service calls.
    await original.production.activate();
    await isLive();
    expect(await theTool()).toMatchObject({ endpoint: original.production.url });
    expect(await call()).toMatchObject({ status: 'succeeded' });
    // A late delete of the copy leaves the tool alone, which belongs to the original by now.
    expect(await copy.production.delete()).toBe(true);
    expect(await theTool()).toMatchObject({ status: 'live' });
  });

  it('waits for n8n to store a secret that replaces a former one', async () => {
    const { production: side } = await published();
    await service.api.delete(`/api/tools/${(await theTool()).id}`);
    const former = side.staticData;
    side.isRegistered = true;
    await side.create();
    const known = side.staticData;
    side.staticData = former;
    const newest = async () => (await service.api.get('/api/tool-calls')).body.data[0] as Json;
    await waitFor('a refusal', async () => (await newest()).http_status === 401);
    expect(await theTool()).toMatchObject({ status: 'draft', going_live: true });
    side.staticData = known;
    await isLive();
  });

  it('is not undone by a late delete of the time before', async () => {
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

  it('survives five tries, each followed by delete, the answer to each lost but the last', async () => {
    const { production: side } = trigger();
    side.isRegistered = true;
    for (let n = 1; n < 5; n++) {
      wire.loses = (method) => method === 'PUT';
      await failureOf(side.create());
      wire.loses = () => false;
      expect(await side.delete()).toBe(true);
      expect(await theTool()).toMatchObject({ status: 'draft', going_live: false });
    }
    await side.create();
    await isLive();
    expect(await call()).toMatchObject({ status: 'succeeded' });
  });

  it('heals a secret that was rotated at the service', async () => {
    const { production: side } = await published();
    await service.api.post(`/api/tools/${(await theTool()).id}/rotate-secret`);
    expect(await call()).toMatchObject({ status: 'failed', http_status: 401 });
    await side.deactivate();
    await side.activate();
    await isLive();
    expect(await call()).toMatchObject({ status: 'succeeded' });
  });

  it.each<[string, TriggerOptions['parameters']]>([
    ['the name', { toolName: 'Find order' }],
    ['the description', { toolDescription: '' }],
    ['the parameters', { parameters: { fields: [{ name: 'a b' }] } }],
    ['the sample', { sampleArguments: '[]' }],
    ['the sample, without a required parameter,', { sampleArguments: '{}' }],
    ['the sample, with an unknown parameter,', { sampleArguments: '{"order_number":"A","x":1}' }],
  ])('calls nothing when %s cannot be', async (_what, parameters) => {
    expect(await failureOf(trigger(parameters).production.activate())).toMatchObject({
      name: 'NodeOperationError',
      description: expect.any(String),
    });
    expect(wire.seen).toEqual([]);
  });
});

describe('When publishing fails', () => {
  it('because the sample does not fit: says what to enter, and leaves nothing behind', async () => {
    const error = await failureOf(
      trigger({ sampleArguments: '{"order_number":1}' }).production.activate(),
    );
    expect(error).toMatchObject({
      name: 'NodeApiError',
      httpCode: '400',
      description: expect.stringContaining('Sample Arguments'),
    });
    expect(await tools()).toEqual([]);
  });

  it('because of the address: says what to set, and that it is to be published again', async () => {
    const strict = await startTestService({ env: { ALLOWED_NETWORKS: '' } });
    try {
      const own = { baseUrl: strict.url, apiKey: strict.apiKey };
      const error = await failureOf(trigger({}, { credential: () => own }).production.activate());
      expect(error).toMatchObject({
        httpCode: '422',
        description: expect.stringMatching(/WEBHOOK_URL.*publish again.*Settings of the service/),
      });
      expect((await strict.api.get('/api/tools')).body.data).toEqual([]);
    } finally {
      await strict.stop();
    }
  });

  it('because there are 100 tools: says what to do', async () => {
    for (let i = 0; i < 100; i += 1) await define(`tool_${i}`, elsewhere());
    const error = await failureOf(trigger().production.activate());
    expect(error).toMatchObject({
      httpCode: '409',
      message: expect.stringContaining('100'),
      description: expect.stringMatching(/Delete a tool.*publish again/),
    });
  });

  it('because the service is away: says so', async () => {
    credential = { baseUrl: await freeAddress(), apiKey: 'k' };
    expect((await failureOf(trigger().production.activate())).description).toContain(
      'Nothing answers at',
    );
  });

  it('with an error of the service: nothing is left, nothing is stored, and the next try succeeds', async () => {
    const { production: side } = trigger();
    wire.refuses = (method) => (method === 'PUT' ? 500 : undefined);
    expect(await failureOf(side.activate())).toMatchObject({
      name: 'NodeApiError',
      httpCode: '500',
    });
    expect(await tools()).toEqual([]);
    expect(stored(side)).toEqual({});
    expect(await side.delete()).toBe(true);
    wire.refuses = undefined;
    await side.activate();
    await isLive();
  });

  it('with an error of the service, and a tool that was live: it is not half changed', async () => {
    const made = await published();
    const before = await theTool();
    made.parameters = { ...made.parameters, toolDescription: 'Else.' };
    wire.refuses = (method) => (method === 'PUT' ? 500 : undefined);
    expect(await failureOf(made.production.create())).toMatchObject({ httpCode: '500' });
    expect(await theTool()).toEqual(before);
    wire.refuses = undefined;
    await made.production.activate();
    await isLive();
    expect(await theTool()).toMatchObject({ description: 'Else.' });
  });

  it('at the test call: the tool stays a draft with the reason, until it is published again', async () => {
    const { production: side } = trigger();
    const { startExecution } = side;
    side.startExecution = (json, res) => {
      side.executions.push(json);
      res.status(422).json({ message: 'There is no such order' });
    };
    await side.activate();
    expect(await isTested()).toMatchObject({
      status: 'draft',
      last_test: { succeeded: false, error: expect.stringContaining('There is no such order') },
    });
    expect(side.executions).toHaveLength(1);
    side.startExecution = startExecution;
    await side.activate();
    await isLive();
  });

  it('at the test call, because the workflow fails: it ran once, though the service asks three times', async () => {
    const { production: side } = trigger();
    side.startExecution = (json, res) => {
      side.executions.push(json);
      res.status(500).json({ message: 'Error in workflow' });
    };
    await side.activate();
    expect(await isTested()).toMatchObject({ status: 'draft', last_test: { succeeded: false } });
    expect((await service.api.get('/api/tool-calls')).body.data[0]).toMatchObject({
      attempts: 3,
      http_status: 500,
    });
    expect(side.executions).toHaveLength(1);
  });

  it('logs nothing when it succeeds', async () => {
    const log = listenToLog();
    try {
      await published();
      expect([...log.errors, ...log.warnings]).toEqual([]);
    } finally {
      log.stop();
    }
  });
});

describe('Unpublishing', () => {
  it('pauses when the static data is lost', async () => {
    const { production: side } = await published();
    side.staticData = {};
    expect(await side.deactivate()).toBe(true);
    expect(await theTool()).toMatchObject({ status: 'paused' });
  });

  it('is content when the tool is gone, and when it is called again', async () => {
    const { production: side } = await published();
    await service.api.delete(`/api/tools/${(await theTool()).id}`);
    expect([await side.delete(), await side.delete()]).toEqual([true, true]);
    side.staticData = {};
    expect(await side.delete()).toBe(true);
  });

  it('never throws: when the service is away, or the fields cannot be', async () => {
    const made = await published();
    credential = { baseUrl: await freeAddress(), apiKey: 'k' };
    expect(await made.production.delete()).toBe(false);
    made.production.staticData = {};
    made.parameters = { ...made.parameters, toolName: 'Not a name' };
    expect(await made.production.delete()).toBe(false);
  });

  it('stops a tool that is about to go live', async () => {
    const { production: side } = trigger();
    const end = Promise.withResolvers<true>();
    side.startExecution = async (json, res) => {
      side.executions.push(json);
      await end.promise;
      res.json({});
    };
    await side.activate();
    await waitFor('the test call', () => side.executions.length === 1);
    await side.deactivate();
    end.resolve(true);
    await isTested();
    expect(await theTool()).toMatchObject({ status: 'draft', going_live: false });
  });
});

describe('Listening for a test event', () => {
  it('registers a draft under the test name, is called with the sample, and removes it', async () => {
    const { test } = trigger({
      askBeforeRunning: true,
      sampleArguments: '{"order_number":"A-1042"}',
    });
    await test.activate();
    expect(await theTool()).toMatchObject({
      name: 'find_order_test',
      status: 'draft',
      endpoint: test.url,
      ask_before_running: false,
    });
    await waitFor('the call', () => test.executions.length > 0);
    expect(test.executions).toEqual([
      {
        tool_call_id: expect.stringMatching(/^call_/),
        tool: 'find_order',
        arguments: { order_number: 'A-1042' },
        args: { order_number: 'A-1042' },
        conversation_id: 'conv_test',
        is_test: true,
      },
    ]);
    await waitFor('its end', async () => (await theTool()).last_test);
    expect(await theTool()).toMatchObject({ status: 'draft' });
    expect(await test.deactivate()).toBe(true);
    expect(await tools()).toEqual([]);
    expect(test.staticData['node:Trigger']).toEqual({});
  });

  it('never touches the published tool', async () => {
    const made = await published();
    const before = await theTool();
    await made.test.activate();
    await waitFor('the call', () => made.test.executions.length > 0);
    expect(await named('find_order')).toEqual(before);
    await made.test.deactivate();
    expect(await theTool()).toEqual(before);
    expect(made.production.executions).toHaveLength(1);
  });

  it('is not touched by publishing and unpublishing', async () => {
    const made = trigger({ options: { sendTestCall: false } });
    await made.test.activate();
    const draft = await theTool();
    await made.production.activate();
    await isLive();
    await made.production.deactivate();
    expect(await named('find_order_test')).toEqual(draft);
  });

  it('never touches the published tool either when what n8n kept of both is lost', async () => {
    const made = await published();
    const before = await theTool();
    await made.test.activate();
    made.test.staticData = {};
    expect(await made.test.delete()).toBe(true);
    expect(await theTool()).toEqual(before);
  });

  it('makes no call when that is switched off', async () => {
    const quiet = trigger({ options: { sendTestCall: false } });
    const asked = trigger({ toolName: 'other' });
    await quiet.test.activate();
    await asked.test.activate();
    await waitFor('the call of the one that asked', () => asked.test.executions.length > 0);
    expect(calls(`${stored(quiet.test).draftId}/test`)).toEqual([]);
    expect(quiet.test.executions).toEqual([]);
  });

  it('is called again when n8n did not know the secret yet', async () => {
    const { test } = trigger();
    await test.activate();
    const known = test.staticData;
    const reads: object[] = [];
    Object.defineProperty(test, 'staticData', {
      get: () => (reads.push(known) === 1 ? {} : known),
    });
    await waitFor('the call', () => test.executions.length > 0);
    expect(reads).toHaveLength(2);
    expect(test.executions).toHaveLength(1);
  });

  it('is harmless when it was stopped before the call', async () => {
    const { test } = trigger();
    await test.activate();
    const { draftId } = stored(test);
    await test.deactivate();
    await waitFor('the call to be asked for', () => calls(`${draftId}/test`).length > 0);
    expect(test.executions).toEqual([]);
  });

  it.each<[string, (test: Side) => string]>([
    ['this address', (test) => test.url],
    ['another test address', () => `${host.url}/webhook-test/another/tool`],
    ['another host', (test) => test.url.replace('localhost', '127.0.0.1')],
  ])('removes what an earlier listening at %s left behind', async (_what, address) => {
    const { test } = trigger({ options: { sendTestCall: false } });
    const left = await define('find_order_test', address(test));
    await test.activate();
    expect((await theTool()).id).not.toBe(left.id);
    expect((await theTool()).id).toBe(stored(test).draftId);
  });

  it('refuses a test name that belongs to another tool, and leaves that alone', async () => {
    const other = await define('find_order_test', elsewhere());
    const { test } = trigger();
    const error = await failureOf(test.activate());
    expect(error).toMatchObject({
      name: 'NodeOperationError',
      message: expect.stringContaining('"find_order_test", which belongs to another tool'),
      description: expect.stringContaining('_test'),
    });
    expect(await test.delete()).toBe(true);
    expect((await theTool()).id).toBe(other.id);
  });

  it('removes its draft also when the static data was lost, and tolerates what is gone', async () => {
    const { test } = trigger({ options: { sendTestCall: false } });
    await test.activate();
    test.staticData = {};
    expect(await test.delete()).toBe(true);
    expect(await tools()).toEqual([]);
    expect(await test.delete()).toBe(true);
    await test.activate();
    await service.api.delete(`/api/tools/${stored(test).draftId}`);
    expect(await test.delete()).toBe(true);
  });

  it('never throws when it ends', async () => {
    const { test } = trigger({ options: { sendTestCall: false } });
    await test.activate();
    credential = { baseUrl: await freeAddress(), apiKey: 'k' };
    expect(await test.delete()).toBe(false);
    expect(stored(test)).toEqual({});
  });

  it('says what is wrong with the sample of a call that cannot be made', async () => {
    const { test } = trigger({ sampleArguments: '{"order_number":1}' });
    const log = listenToLog();
    try {
      await test.activate();
      await waitFor('the log', () =>
        log.warnings.some((entry) =>
          /No test call was made.*order_number.*Sample Arguments/.test(entry),
        ),
      );
    } finally {
      log.stop();
    }
  });
});

describe('With the agent of the real service', () => {
  it('is called with what a customer wrote, and its answer is on record', async () => {
    const { production: side } = await published({ readOnly: true });
    const { conversation_id: id } = await (
      await chatCustomer(service.url)
    ).write('Please find my order A-1042');
    await waitFor('the call', () => side.executions.length === 2);
    expect(side.executions[1]).toEqual({
      tool_call_id: expect.stringMatching(/^call_/),
      tool: 'find_order',
      arguments: { order_number: expect.stringContaining('A-1042') },
      args: expect.anything(),
      conversation_id: id,
    });
    const record = async () =>
      (await service.api.get(`/api/tool-calls?conversation_id=${id}`)).body.data[0] as
        | Json
        | undefined;
    await waitFor('its end', async () => (await record())?.status === 'succeeded');
    expect(await record()).toMatchObject({ attempts: 1, result: { found: true } });
  });

  it('runs once and succeeds although the first attempt timed out', async () => {
    const { production: side } = await published({ timeout: 1 });
    side.startExecution = async (json, res) => {
      side.executions.push(json);
      await new Promise((resolve) => setTimeout(resolve, 1500));
      res.status(200).json({ slow: true });
    };
    expect(await call()).toMatchObject({
      status: 'succeeded',
      attempts: 2,
      result: { slow: true },
    });
    expect(side.executions).toHaveLength(2);
  });

  it('runs once and fails when every attempt timed out', async () => {
    const { production: side } = await published({ timeout: 1 });
    const end = Promise.withResolvers<true>();
    side.startExecution = async (json, res) => {
      side.executions.push(json);
      await end.promise;
      res.status(200).json({});
    };
    expect(await call()).toMatchObject({
      status: 'failed',
      attempts: 3,
      error: { type: 'timeout' },
    });
    end.resolve(true);
    expect(side.executions).toHaveLength(2);
  });

  it('fails when the workflow ends without responding', async () => {
    const { production: side } = await published({ responseMode: 'responseNode' });
    side.startExecution = (json, res) => {
      side.executions.push(json);
      res.status(200).json(undefined);
    };
    expect(await call()).toMatchObject({
      status: 'failed',
      error: { type: 'invalid_response', message: expect.stringContaining('empty body') },
    });
  });

  it('is accepted at once in a form that the service takes', async () => {
    const { production: side } = await published({ responseMode: 'onReceived' });
    expect(await call()).toMatchObject({ status: 'succeeded', result: { status: 'accepted' } });
    expect(side.executions).toHaveLength(2);
  });
});
