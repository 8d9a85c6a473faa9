import { afterEach, describe, expect, it } from '@jest/globals';
import { AGENT_TRIGGER, failureOf, listenToLog } from '../helpers/n8n.ts';
import { freeAddress } from '../helpers/strangers.ts';
import { triggerStage } from '../helpers/triggerStage.ts';
import type { Json, Side, Trigger, TriggerOptions, WebhookHost } from '../helpers/webhookHost.ts';

const log = listenToLog();
const stage = triggerStage();
const made: Trigger[] = [];
afterEach(async () => {
  stage.credential = { baseUrl: stage.service.url, apiKey: stage.service.apiKey };
  for (const { production, test } of made.splice(0)) {
    await production.delete();
    await test.delete();
  }
  await stage.service.api.patch('/api/agent', { enabled: false });
});

function trigger(
  parameters: TriggerOptions['parameters'] = {},
  options: Partial<TriggerOptions> = {},
  at: WebhookHost = stage.host,
): Trigger {
  const added = at.addTrigger({ type: AGENT_TRIGGER, parameters, ...options });
  made.push(added);
  return added;
}
async function published(...options: Parameters<typeof trigger>): Promise<Trigger> {
  const added = trigger(...options);
  await added.production.activate();
  return added;
}
const agent = async () => (await stage.service.api.get('/api/agent')).body;
const stored = (side: Side) => (side.staticData['node:Trigger'] ?? {}) as Json;

describe('Publishing', () => {
  it('makes the workflow the agent, turns the agent on and keeps the secret', async () => {
    const { production: side } = await published({ timeout: 90 });
    expect(await agent()).toMatchObject({
      enabled: true,
      decided_by: 'webhook',
      webhook: {
        endpoint: side.url,
        timeout: 90,
        removed_at: null,
        owner: {
          instance_id: expect.stringMatching(/./),
          workflow_id: expect.stringMatching(/^workflow-/),
          workflow_name: 'Test',
          node_id: expect.stringMatching(/^node-/),
          host: new URL(side.url).host,
        },
      },
    });
    expect(stored(side)).toEqual({
      revision: expect.any(Number),
      secret: expect.stringMatching(/^whsec_/),
    });
  });

  it('leaves the agent off when the option says so, and the log says what to do', async () => {
    await published({ options: { turnOn: false } });
    expect(await agent()).toMatchObject({ enabled: false, webhook: { timeout: 60 } });
    expect(log.infos.join()).toMatch(/The workflow is the agent\..*Agent → Turn On/);
  });

  it('again changes nothing but the revision, and the secret stays', async () => {
    const { production: side } = await published();
    const { secret, revision } = stored(side);
    await side.activate();
    expect(stored(side)).toEqual({ secret, revision: Number(revision) + 1 });
    expect(stage.wire.seen.map(({ method }) => method)).toEqual(['PUT', 'PUT']);
  });

  it.each([{ enabled: false }, { use_webhook: false }])(
    'again because n8n starts again leaves what the team chose since: %j',
    async (choice) => {
      const { production: side } = await published();
      await stage.service.api.patch('/api/agent', choice);
      const { enabled, decided_by } = await agent();
      await side.restart();
      expect(await agent()).toMatchObject({ enabled, decided_by, webhook: { removed_at: null } });
    },
  );

  it('again because n8n starts again leaves the agent off, also after a try that could not reach the service', async () => {
    const { production: side } = await published();
    await stage.service.api.patch('/api/agent', { enabled: false, use_webhook: false });
    const { credential } = stage;
    stage.credential = { baseUrl: await freeAddress(), apiKey: 'k' };
    await failureOf(side.restart());
    // n8n calls delete after a create that failed.
    expect(await side.delete()).toBe(false);
    stage.credential = credential;
    await side.restart();
    expect(await agent()).toMatchObject({ enabled: false, decided_by: 'keyword' });
  });

  it('again because n8n starts again leaves the brain that the team chose, also after a try that was undone', async () => {
    const { production: side } = await published();
    await stage.service.api.patch('/api/agent', { enabled: false, use_webhook: false });
    stage.wire.refuses = (method) => (method === 'PUT' ? 500 : undefined);
    await failureOf(side.restart());
    stage.wire.refuses = undefined;
    expect(await side.delete()).toBe(true);
    expect(await agent()).toMatchObject({ webhook: { removed_at: expect.any(String) } });
    await side.restart();
    expect(await agent()).toMatchObject({
      enabled: false,
      decided_by: 'keyword',
      webhook: { removed_at: null },
    });
  });

  it('for the first time when n8n starts turns the agent on', async () => {
    const { production: side } = trigger();
    await side.restart();
    expect(await agent()).toMatchObject({ enabled: true, decided_by: 'webhook' });
  });

  it('a new version turns the agent on again and takes the brain back', async () => {
    const { production: side } = await published();
    await stage.service.api.patch('/api/agent', { enabled: false, use_webhook: false });
    await side.deactivate();
    await side.activate();
    expect(await agent()).toMatchObject({ enabled: true, decided_by: 'webhook' });
  });

  it('after unpublishing makes the workflow the agent again, with the same secret', async () => {
    const { production: side } = await published();
    const { secret } = stored(side);
    expect(await side.deactivate()).toBe(true);
    expect(await agent()).toMatchObject({
      enabled: true,
      decided_by: 'webhook',
      webhook: { removed_at: expect.any(String) },
    });
    expect(stored(side)).toEqual({ secret });
    await side.activate();
    expect(await agent()).toMatchObject({ webhook: { removed_at: null } });
    expect(stored(side)).toMatchObject({ secret });
  });

  it.each([4, 301, 'soon'])('refuses a timeout of %s before it calls', async (timeout) => {
    const { message } = await failureOf(trigger({ timeout }).production.activate());
    expect(message).toBe(
      'The timeout is not from 5 to 300 seconds. Enter in "Timeout" how many seconds the workflow has for an answer.',
    );
    expect(stage.wire.seen).toEqual([]);
  });

  it('says where to allow an address that the service may not call', async () => {
    const { production: side } = trigger({}, { url: 'https://10.1.2.3' });
    expect((await failureOf(side.activate())).message).toMatch(
      /may not call n8n at https:\/\/10\.1\.2\.3 yet\. Choose where n8n runs under Settings/,
    );
  });
});

describe('An agent that another workflow holds', () => {
  it('is left alone: the message names the holder and the fix, and delete changes nothing', async () => {
    await published();
    const { webhook } = await agent();
    const second = trigger();
    expect(await failureOf(second.production.activate())).toMatchObject({
      name: 'NodeApiError',
      httpCode: '409',
      message: expect.stringMatching(
        /^The agent is the workflow "Test" of the n8n at \S+\. Unpublish it there, .*turn on the option "Take Over From Another n8n"\. Then publish again\.$/,
      ),
    });
    // n8n calls delete after a create that failed.
    expect(await second.production.delete()).toBe(true);
    expect((await agent()).webhook).toEqual(webhook);
  });

  it('moves to another n8n with the option, and unpublishing in the former n8n no longer removes it', async () => {
    const options: Partial<TriggerOptions> = { nodeId: 'node', workflowId: 'workflow' };
    const before = await published({}, options);
    const after = trigger({}, options, await stage.startOtherHost());
    expect((await failureOf(after.production.activate())).message).toContain(
      `of the n8n at ${new URL(stage.host.url).host}`,
    );
    after.parameters = { options: { takeOver: true } };
    await after.production.activate();
    expect(await before.production.deactivate()).toBe(true);
    expect((await agent()).webhook).toMatchObject({
      endpoint: after.production.url,
      removed_at: null,
    });
  });

  it('is free once that workflow is unpublished', async () => {
    const first = await published();
    await first.production.deactivate();
    const second = await published();
    expect((await agent()).webhook).toMatchObject({ endpoint: second.production.url });
    expect(stored(second.production).secret).not.toBe(stored(first.production).secret);
  });
});

describe('Unpublishing', () => {
  it('that comes late does not undo a later publication', async () => {
    const { production: side } = await published();
    const late = structuredClone(side.staticData);
    await side.activate();
    const current = side.staticData;
    side.staticData = late;
    expect(await side.delete()).toBe(true);
    expect(await agent()).toMatchObject({ webhook: { removed_at: null } });
    side.staticData = current;
  });

  it('works without the static data, and never throws', async () => {
    const { production: side } = await published();
    side.staticData = {};
    expect(await side.delete()).toBe(true);
    expect(await agent()).toMatchObject({ webhook: { removed_at: expect.any(String) } });
    await side.activate();
    stage.credential = { baseUrl: await freeAddress(), apiKey: 'k' };
    expect(await side.delete()).toBe(false);
  });
});

describe('Listening for a test event', () => {
  it('does not keep a workflow with static data of a test from being unpublished', async () => {
    const { production: side } = trigger();
    side.staticData = { 'node:Trigger': { secret: 'whsec_dGVzdA==', isTest: true } };
    await side.activate();
    expect(stored(side)).toEqual({
      revision: expect.any(Number),
      secret: expect.not.stringMatching('whsec_dGVzdA=='),
    });
    expect(await side.delete()).toBe(true);
    expect(await agent()).toMatchObject({ webhook: { removed_at: expect.any(String) } });
  });

  it('has a secret of its own, leaves the published agent as it is, and ends', async () => {
    const { production, test } = await published();
    const before = await agent();
    await test.activate();
    expect(stored(test)).toEqual({ secret: expect.stringMatching(/^whsec_/), isTest: true });
    expect(stored(test).secret).not.toBe(stored(production).secret);
    expect(await agent()).toEqual(before);
    expect(await test.deactivate()).toBe(true);
    expect(stored(test)).toEqual({});
    expect(await agent()).toEqual(before);
    expect(stage.wire.seen.map(({ method, path }) => `${method} ${path.split('?')[0]}`)).toEqual([
      'PUT /api/agent/webhook',
      'PUT /api/agent/test-webhook',
      'DELETE /api/agent/test-webhook',
    ]);
  });

  it('works beside another workflow that is the agent, and does not turn the agent on', async () => {
    const first = await published({ options: { turnOn: false } });
    await trigger().test.activate();
    expect(await agent()).toMatchObject({
      enabled: false,
      webhook: { endpoint: first.production.url },
    });
  });

  it('says what is wrong, and to execute the step again', async () => {
    const { test } = trigger({}, { url: 'https://10.1.2.3' });
    expect((await failureOf(test.activate())).message).toMatch(/Then execute the step again\.$/);
  });
});
