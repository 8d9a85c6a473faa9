// A workflow becomes the agent, gives it up, and listens for a test event.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { TOOL_TEST_ENV } from '../../../helpers/toolEndpoint.ts';
import { OWNER, ownerQuery } from './workflowStage.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are held against the contract by the client
type Json = any;

const ENDPOINT = 'https://127.0.0.1:5678/webhook/6f1c2a52/agent';
const STRANGERS: [string, Json][] = [
  ['another n8n', { instance_id: 'instance-2' }],
  ['a clone on another host', { host: 'staging.example.com' }],
  ['another workflow', { workflow_id: 'workflow-2' }],
  ['another node', { node_id: 'node-2' }],
];

let service: TestService;
let workspaces = 0;
/** Each test has a workspace of its own. */
let api: TestService['api'];
beforeAll(async () => {
  service = await startTestService({ env: TOOL_TEST_ENV });
});
beforeEach(async () => {
  api = await service.addWorkspace(`Workspace ${++workspaces}`);
});
afterAll(() => service?.stop());

const publish = (changes: Json = {}) =>
  api.put('/api/agent/webhook', { endpoint: ENDPOINT, owner: OWNER, ...changes });
const unpublish = async (changes: Json = {}) =>
  (await api.delete(`/api/agent/webhook?${ownerQuery(changes)}`)).body.removed;
const agent = async (): Promise<Json> => (await api.get('/api/agent')).body;
const hashOf = (secret: string) => createHash('sha256').update(secret).digest('hex');

describe('Publishing a workflow as the agent', () => {
  it('makes it what decides, shows its secret once, and says that the agent is off', async () => {
    expect(await agent()).toMatchObject({
      decided_by: 'keyword',
      use_webhook: false,
      webhook: null,
    });
    const { status, body } = await publish();
    expect([status, body]).toEqual([
      200,
      {
        endpoint: ENDPOINT,
        timeout: 60,
        revision: 1,
        owner: OWNER,
        secret: expect.stringMatching(/^whsec_/),
        agent_enabled: false,
        notice: expect.stringMatching(/^The agent is off/),
      },
    ]);
    const shown = await agent();
    expect(shown).toMatchObject({
      enabled: false,
      decided_by: 'webhook',
      use_webhook: true,
      webhook: { endpoint: ENDPOINT, timeout: 60, owner: OWNER, revision: 1, removed_at: null },
    });
    expect(JSON.stringify(shown)).not.toContain(body.secret);
  });

  it('turns the agent on when it is asked to, and never off', async () => {
    expect((await publish({ turn_on: true })).body).toMatchObject({
      agent_enabled: true,
      notice: null,
    });
    expect((await publish()).body).toMatchObject({ agent_enabled: true, notice: null });
  });

  it('again leaves the brain that the team chose since, unless it is asked to turn the agent on', async () => {
    await publish({ turn_on: true });
    await api.patch('/api/agent', { use_webhook: false });
    await publish();
    expect(await agent()).toMatchObject({ decided_by: 'keyword', webhook: { removed_at: null } });
    await publish({ turn_on: true });
    expect(await agent()).toMatchObject({ decided_by: 'webhook' });
  });

  it('at another address, or after unpublishing, takes the brain back', async () => {
    await publish();
    await api.patch('/api/agent', { use_webhook: false });
    await publish({ endpoint: `${ENDPOINT}-2` });
    expect(await agent()).toMatchObject({ decided_by: 'webhook' });
    await api.patch('/api/agent', { use_webhook: false });
    await unpublish();
    await publish({ endpoint: `${ENDPOINT}-2` });
    expect(await agent()).toMatchObject({ decided_by: 'webhook' });
  });

  it('with keep_settings leaves the brain that the team chose; the first workflow is what decides', async () => {
    await publish({ keep_settings: true });
    expect(await agent()).toMatchObject({ enabled: false, decided_by: 'webhook' });
    await api.patch('/api/agent', { use_webhook: false });
    await publish({ keep_settings: true, endpoint: `${ENDPOINT}-2` });
    expect(await agent()).toMatchObject({ decided_by: 'keyword' });
    await unpublish();
    await publish({ keep_settings: true });
    expect(await agent()).toMatchObject({
      enabled: false,
      decided_by: 'keyword',
      webhook: { removed_at: null },
    });
  });

  it('again keeps the secret that the publisher holds, and gives a new one to a publisher that lost it', async () => {
    const { secret } = (await publish()).body;
    expect((await publish({ secret_hash: hashOf(secret), timeout: 90 })).body).toMatchObject({
      secret: null,
      timeout: 90,
      revision: 2,
    });
    const again = (await publish({ secret_hash: hashOf('whsec_other') })).body;
    expect(again.secret).toMatch(/^whsec_/);
    expect(again.secret).not.toBe(secret);
  });

  it.each<[string, Json, Json]>([
    ['a time below the shortest', { timeout: 4 }, { param: 'timeout' }],
    ['a time above the longest', { timeout: 301 }, { param: 'timeout' }],
    ['no owner', { owner: undefined }, { param: 'owner' }],
    ['a secret that is no hash', { secret_hash: 'whsec_1' }, { param: 'secret_hash' }],
    ['an address that is no URL', { endpoint: 'n8n' }, { code: 'target_url_invalid' }],
    [
      'an address that is not public',
      { endpoint: 'https://10.1.2.3/agent' },
      { code: 'target_url_not_public', param: 'endpoint' },
    ],
  ])('refuses %s, and changes nothing', async (_what, changes, error) => {
    expect((await publish(changes)).body.error).toMatchObject(error);
    expect(await agent()).toMatchObject({ use_webhook: false, webhook: null });
  });
});

it('lets one of two that publish at once be the agent, and tells the other who it is', async () => {
  const other = { ...OWNER, workflow_id: 'workflow-2', workflow_name: 'Night shift' };
  const both = await Promise.all([publish(), publish({ owner: other })]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  const [winner, loser] = both.toSorted((a, b) => a.status - b.status);
  expect((await agent()).webhook.owner).toEqual(winner!.body.owner);
  expect(loser!.body.error.message).toContain(winner!.body.owner.workflow_name);
});

describe('While a workflow is published', () => {
  beforeEach(async () => void (await publish()));

  it.each(STRANGERS)('%s is refused, with the holder in words', async (_who, difference) => {
    const before = await agent();
    const { status, body } = await publish({ owner: { ...OWNER, ...difference } });
    expect([status, body.error]).toMatchObject([
      409,
      { code: 'published_elsewhere', param: 'owner' },
    ]);
    expect(body.error.message).toContain(
      'The agent is the workflow "Support agent" of the n8n at n8n.example.com.',
    );
    expect(await agent()).toEqual(before);
  });

  it.each(STRANGERS)('%s can take its place on purpose', async (_who, difference) => {
    const owner = { ...OWNER, ...difference };
    expect((await publish({ owner, take_over: true })).body).toMatchObject({ owner, revision: 2 });
    expect(await unpublish()).toBe(false);
    expect(await agent()).toMatchObject({ webhook: { owner, removed_at: null } });
  });

  it.each(STRANGERS)('%s cannot unpublish it', async (_who, difference) => {
    expect(await unpublish(difference)).toBe(false);
    expect(await agent()).toMatchObject({ webhook: { removed_at: null } });
  });
});

describe('Unpublishing', () => {
  it('leaves the workflow as what decides, and lets any other be published', async () => {
    await publish();
    expect(await unpublish()).toBe(true);
    expect(await agent()).toMatchObject({
      decided_by: 'webhook',
      use_webhook: true,
      webhook: { owner: OWNER, removed_at: expect.stringMatching(/\+00:00$/) },
    });
    expect(await unpublish()).toBe(false);
    const owner = { ...OWNER, workflow_id: 'workflow-2' };
    expect((await publish({ owner })).status).toBe(200);
    expect(await agent()).toMatchObject({ webhook: { owner, removed_at: null } });
  });

  it('late, of a publication before the newest, does nothing', async () => {
    await publish();
    await publish();
    expect(await unpublish({ revision: '1' })).toBe(false);
    expect(await unpublish({ endpoint: `${ENDPOINT}/former` })).toBe(false);
    expect(await unpublish({ revision: '2', endpoint: ENDPOINT })).toBe(true);
  });

  it('does not happen when another brain is chosen: the workflow can be chosen again', async () => {
    await publish();
    const patched = (await api.patch('/api/agent', { use_webhook: false })).body;
    expect(patched).toMatchObject({
      decided_by: 'keyword',
      use_webhook: false,
      webhook: { removed_at: null },
    });
    expect((await api.patch('/api/agent', { use_webhook: true })).body.decided_by).toBe('webhook');
  });
});

describe('Listening for a test event', () => {
  const listen = (changes: Json = {}) =>
    api.put('/api/agent/test-webhook', { endpoint: ENDPOINT, owner: OWNER, ...changes });
  const stop = async (changes: Json = {}) =>
    (await api.delete(`/api/agent/test-webhook?${ownerQuery(changes)}`)).body.removed;

  it('has a secret and an end of its own, and leaves what is published', async () => {
    await publish();
    const before = await agent();
    const { body } = await listen({ endpoint: `${ENDPOINT}-test` });
    expect(body.secret).toMatch(/^whsec_/);
    expect(Date.parse(body.expires_at)).toBeGreaterThan(Date.now());
    expect(await agent()).toEqual(before);
    expect(await stop()).toBe(true);
    expect(await stop()).toBe(false);
    expect(await agent()).toEqual(before);
  });

  it('is taken over by the newest editor, and the one before cannot end it', async () => {
    await listen();
    expect((await listen({ owner: { ...OWNER, workflow_id: 'workflow-2' } })).status).toBe(200);
    expect(await stop()).toBe(false);
    expect(await stop({ workflow_id: 'workflow-2' })).toBe(true);
  });

  it('refuses an address that is not public', async () => {
    expect((await listen({ endpoint: 'https://10.1.2.3/agent' })).body.error).toMatchObject({
      code: 'target_url_not_public',
      param: 'endpoint',
    });
  });
});
