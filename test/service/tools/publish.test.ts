import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { signedInBrowser } from '../../helpers/browserless.ts';
import { ask, callIn, wakeToolCalls } from '../../helpers/toolEndpoint.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  definition,
  hashOf,
  moveClock,
  OTHER_OWNERS,
  OWNER,
  publishLive,
  put,
  theTool,
  tools,
  unpublish,
  until,
  untilLive,
  usePublishing,
  type Json,
} from './publishing.ts';
import { endpoint, holdNext, service } from './toolService.ts';

usePublishing();

describe('Publishing a tool', () => {
  it('defines it, shows its secret, makes a test call and lets it go live', async () => {
    const letGo = holdNext('/orders');
    const { status, body } = await put();
    expect([status, body.status, body.going_live]).toEqual([202, 'draft', true]);
    expect(body).toMatchObject({
      name: 'find_order',
      kind: 'Webhook',
      owner: OWNER,
      revision: 1,
      secret: expect.stringMatching(/^whsec_/),
    });
    endpoint.verify('/orders', body.secret);
    await letGo();
    expect(await untilLive()).toMatchObject({ last_test: { succeeded: true }, owner: OWNER });
    expect(endpoint.envelopes('/orders')).toMatchObject([
      { tool: 'find_order', arguments: { order_number: 'A-1042' }, conversation_id: 'conv_test' },
    ]);
  });

  it('again, with the same content, changes only the revision, calls nothing and answers 200', async () => {
    const first = await publishLive();
    const before = await theTool();
    const again = await put({ secret_hash: hashOf(first.secret) });
    expect([again.status, again.body.secret]).toEqual([200, null]);
    expect(await theTool()).toEqual({
      ...before,
      revision: 2,
      updated_at: expect.any(String),
    });
    expect(endpoint.at('/orders')).toHaveLength(1);
  });

  it('again, while the test call runs, makes no second one', async () => {
    const letGo = holdNext('/orders');
    const { body } = await put();
    const again = await put({ secret_hash: hashOf(body.secret) });
    expect([again.status, again.body.going_live, again.body.secret]).toEqual([202, true, null]);
    await letGo();
    await untilLive();
    expect(endpoint.at('/orders')).toHaveLength(1);
  });

  it('with another description changes a live tool without a test call', async () => {
    const { secret } = await publishLive();
    const changed = await put({
      definition: definition({ description: 'Else.', timeout: 30, ask_before_running: true }),
      secret_hash: hashOf(secret),
    });
    expect([changed.status, changed.body.status]).toEqual([200, 'live']);
    expect(await theTool()).toMatchObject({ description: 'Else.', timeout: 30 });
    expect(endpoint.at('/orders')).toHaveLength(1);
  });

  it('with other parameters makes a test call before it is live again', async () => {
    const { id, secret } = await publishLive();
    const parameters = { type: 'object', properties: { email: { type: 'string' } } };
    const changed = await put({
      definition: definition({ parameters }),
      sample_arguments: { email: 'a@example.com' },
      secret_hash: hashOf(secret),
    });
    expect([changed.status, changed.body.status, changed.body.id]).toEqual([202, 'draft', id]);
    await untilLive();
    expect(endpoint.envelopes('/orders')[1].arguments).toEqual({ email: 'a@example.com' });
  });

  it.each<[string, () => Json]>([
    ['holds no secret', () => ({})],
    ['holds another one', () => ({ secret_hash: hashOf('whsec_other') })],
  ])(
    'by a workflow that %s gives it a new one, which a test call has to prove first',
    async (_what, held) => {
      const first = await publishLive();
      const again = await put(held());
      expect([again.status, again.body.status]).toEqual([202, 'draft']);
      expect(again.body.secret).toMatch(/^whsec_/);
      expect(again.body.secret).not.toBe(first.secret);
      endpoint.verify('/orders', again.body.secret);
      await untilLive();
    },
  );

  it('does not count a test call that was signed with the former secret', async () => {
    const held: ServerResponse[] = [];
    const hold = (_request: unknown, response: ServerResponse) => void held.push(response);
    endpoint.answer('/orders', hold, 422);
    await put();
    const first = await waitFor('the first test call', () => held[0], { everyMs: 5 });
    const { body } = await put();
    await until('the second to fail', ({ going_live: isGoingLive }) => !isGoingLive);
    first.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    await waitFor('the first to succeed', async () => {
      const calls = (await service.api.get('/api/tool-calls?tool=find_order')).body.data;
      return calls.some(({ status }: Json) => status === 'succeeded');
    });
    expect(await theTool()).toMatchObject({ status: 'draft', last_test: { succeeded: false } });
    const again = await put({ secret_hash: hashOf(body.secret) });
    expect([again.status, again.body.status]).toEqual([202, 'draft']);
    await untilLive();
  });

  it('gives a new secret after it was rotated at the service', async () => {
    const { id, secret } = await publishLive();
    await service.api.post(`/api/tools/${id}/rotate-secret`);
    const again = await put({ secret_hash: hashOf(secret) });
    expect([again.status, again.body.secret]).toEqual([202, expect.stringMatching(/^whsec_/)]);
    await untilLive();
  });

  it('waits while the endpoint does not know the secret yet: 503, or 401 with a former one', async () => {
    endpoint.answer('/orders', 503, 401);
    await put();
    for (const status of [503, 401]) {
      await waitFor(
        `the ${status}`,
        async () =>
          (await callIn(service.api, 'tool=find_order', 'running')).http_status === status,
      );
      expect(await theTool()).toMatchObject({ status: 'draft', going_live: true });
      moveClock(2000);
      await wakeToolCalls(service.api, endpoint);
    }
    await untilLive();
  });

  it('keeps the reason on record when the test call fails, and tests again when it is published again', async () => {
    endpoint.answer('/orders', { status: 422, json: { message: 'There is no such order' } });
    const { body } = await put();
    expect(await until('the test', ({ last_test: test }) => test !== null)).toMatchObject({
      status: 'draft',
      going_live: false,
      last_test: { succeeded: false, error: expect.stringContaining('There is no such order') },
    });
    expect((await put({ secret_hash: hashOf(body.secret) })).status).toBe(202);
    await untilLive();
  });

  it('of another name renames the tool that the owner has', async () => {
    const first = await publishLive();
    const renamed = await put({ secret_hash: hashOf(first.secret) }, 'track_order');
    expect([renamed.status, renamed.body.id, renamed.body.secret]).toEqual([202, first.id, null]);
    expect(await untilLive()).toMatchObject({ name: 'track_order' });
  });

  it('of another name that a draft has takes that draft and removes the owner’s former tool', async () => {
    await publishLive();
    const { body: draft } = await service.api.post('/api/tools', {
      name: 'track_order',
      kind: 'Webhook',
      ...definition({ endpoint: `${endpoint.url}/elsewhere` }),
    });
    expect((await put({}, 'track_order')).body.id).toBe(draft.id);
    expect(await untilLive()).toMatchObject({ id: draft.id, endpoint: `${endpoint.url}/orders` });
  });

  it('cancels calls that wait for approval only when the new definition changes the call', async () => {
    const asking = definition({ ask_before_running: true, read_only: true });
    const { secret } = await publishLive({ definition: asking });
    await service.api.patch('/api/agent', { enabled: true });
    await ask(service.url, { name: 'find_order' });
    await callIn(service.api, 'tool=find_order', 'pending_approval');
    await put({ definition: asking, secret_hash: hashOf(secret) });
    await callIn(service.api, 'tool=find_order', 'pending_approval');
    await put({ definition: definition({ parameters: {} }), secret_hash: hashOf(secret) });
    expect(
      (await service.api.get('/api/tool-calls?tool=find_order&status=cancelled')).body.data,
    ).toHaveLength(1);
  });

  const invalid = (param: string) => ({ code: 'invalid_request', param });
  it.each<[string, Json, Json]>([
    [
      'a sample that does not fit',
      { sample_arguments: { order_number: 1 } },
      invalid('sample_arguments'),
    ],
    ['no owner', { owner: undefined }, invalid('owner')],
    ['a secret in place of its hash', { secret_hash: 'whsec_1' }, invalid('secret_hash')],
  ])('refuses %s, and leaves nothing behind', async (_what, changes, error) => {
    expect((await put(changes)).body.error).toMatchObject(error);
    expect(await tools()).toEqual([]);
  });

  it.each<[string, Json, Json]>([
    [
      'parameters that are not a valid schema',
      { parameters: { type: 'array' } },
      { code: 'invalid_request' },
    ],
    ['no address', { endpoint: undefined }, invalid('definition.endpoint')],
    ['an address that is not a URL', { endpoint: 'n8n' }, { code: 'target_url_invalid' }],
  ])('refuses a definition with %s, and leaves nothing behind', async (_what, changes, error) => {
    expect((await put({ definition: definition(changes) })).body.error).toMatchObject(error);
    expect(await tools()).toEqual([]);
  });

  it('refuses a name that no tool can have', async () => {
    expect((await put({}, 'Find-Order')).body.error).toMatchObject(invalid('name'));
  });
});

describe('An unknown field', () => {
  it('is named, also inside the definition', async () => {
    const { status, body } = await put({ definition: definition({ foo: 1 }) });
    expect([status, body.error]).toMatchObject([
      400,
      { param: 'definition.foo', message: 'definition.foo is not a known field.' },
    ]);
  });
});

describe('A tool that somebody else has', () => {
  it.each(OTHER_OWNERS)(
    'stays with its owner when %s publishes it, and the error names the owner',
    async (_who, difference) => {
      await publishLive();
      const before = await theTool();
      const refused = await put({ owner: { ...OWNER, ...difference } });
      expect([refused.status, refused.body.error]).toMatchObject([
        409,
        { code: 'published_elsewhere', existing_id: before.id, param: 'name' },
      ]);
      expect(refused.body.error.message).toContain(
        'The tool find_order is published by the workflow "Orders" of the n8n at n8n.example.com.',
      );
      expect(await theTool()).toEqual(before);
    },
  );

  it('that is paused stays so with keep_paused, and goes live without it', async () => {
    const { id, secret } = await publishLive();
    const secret_hash = hashOf(secret);
    await service.api.post(`/api/tools/${id}/pause`);
    const kept = await put({ keep_paused: true, secret_hash });
    expect([kept.status, kept.body]).toMatchObject([200, { status: 'paused', going_live: false }]);
    expect((await put({ secret_hash })).body).toMatchObject({ status: 'live' });
  });

  it.each<[string, Json, boolean]>([
    ['at a new address', { endpoint: 'https://localhost/orders-2' }, true],
    ['with other parameters', { parameters: { type: 'object', properties: {} } }, true],
    ['without its secret', {}, false],
  ])(
    'that is paused stays so with keep_paused, however often, when it comes back %s',
    async (_what, changes, isSecretKnown) => {
      const { id, secret } = await publishLive();
      await service.api.post(`/api/tools/${id}/pause`);
      const { length: calls } = endpoint.at('/orders');
      const again = { definition: definition(changes), sample_arguments: {}, keep_paused: true };
      const first = await put({
        ...again,
        secret_hash: isSecretKnown ? hashOf(secret) : undefined,
      });
      const held = first.body.secret ?? secret;
      const second = await put({ ...again, secret_hash: hashOf(held) });
      for (const { status, body } of [first, second])
        expect([status, body]).toMatchObject([200, { status: 'paused', going_live: false }]);
      expect(second.body).toMatchObject({ id, tested_at: null, secret: null });
      expect((await service.api.post(`/api/tools/${id}/go-live`)).status).toBe(409);
      const { status, body } = await put({ sample_arguments: {}, secret_hash: hashOf(held) });
      expect([status, body]).toMatchObject([202, { status: 'draft', going_live: true }]);
      await untilLive();
      expect(endpoint.at('/orders')).toHaveLength(calls + 1);
    },
  );

  it('that is paused and then edited stays so with keep_paused', async () => {
    const { id, secret } = await publishLive();
    await service.api.post(`/api/tools/${id}/pause`);
    const parameters = { type: 'object', properties: {} };
    const edited = await service.api.patch(`/api/tools/${id}`, { parameters });
    expect(edited.body).toMatchObject({ status: 'paused', tested_at: null });
    const kept = await put({ keep_paused: true, secret_hash: hashOf(secret) });
    expect([kept.status, kept.body]).toMatchObject([200, { status: 'paused', going_live: false }]);
  });

  it('that did not go live and was paused stays so with keep_paused', async () => {
    endpoint.answer('/orders', { status: 422, json: {} });
    const { id, secret } = (await put()).body;
    await until('the test', ({ last_test: test }) => test !== null);
    expect((await service.api.post(`/api/tools/${id}/pause`)).body.status).toBe('paused');
    const kept = await put({ keep_paused: true, secret_hash: hashOf(secret) });
    expect([kept.status, kept.body]).toMatchObject([200, { status: 'paused', going_live: false }]);
  });

  it('that was about to go live and was paused stays so with keep_paused', async () => {
    const letGo = holdNext('/orders');
    const { id, secret } = (await put()).body;
    await service.api.post(`/api/tools/${id}/pause`);
    await letGo();
    await until('the test', ({ last_test: test }) => test !== null);
    const kept = await put({ keep_paused: true, secret_hash: hashOf(secret) });
    expect([kept.status, kept.body]).toMatchObject([200, { status: 'paused', going_live: false }]);
  });

  it('comes back after its own workflow has ended and begins again, also with keep_paused', async () => {
    const { secret } = await publishLive();
    await unpublish();
    const again = await put({ keep_paused: true, secret_hash: hashOf(secret) });
    expect(again.body).toMatchObject({ status: 'live' });
  });

  it.each(OTHER_OWNERS)(
    'goes to %s that takes it over, with a new secret',
    async (_who, difference) => {
      const first = await publishLive();
      const owner = { ...OWNER, ...difference };
      const taken = await put({ owner, take_over: true });
      expect([taken.status, taken.body.id, taken.body.owner]).toEqual([202, first.id, owner]);
      expect(taken.body.secret).not.toBe(first.secret);
      await untilLive();
    },
  );

  it('goes to the next publisher once a member has released it; until then it stays live', async () => {
    const { id, secret } = await publishLive();
    const browser = await signedInBrowser(service.url);
    expect((await browser.get(`/tools/${id}`)).html).toContain(`/tools/${id}/release`);
    const page = await browser.post(`/tools/${id}/release`);
    expect(page.text).toContain(
      'Another workflow can take over by publishing a tool of this name.',
    );
    expect(page.html).not.toContain(`/tools/${id}/release`);
    expect(await theTool()).toMatchObject({ status: 'live', owner: OWNER });
    // Its n8n starts again.
    await put({ keep_paused: true, secret_hash: hashOf(secret) });
    const owner = { ...OWNER, instance_id: 'instance-2' };
    expect((await put({ owner })).body).toMatchObject({ id, owner });
    expect((await put()).body.error.code).toBe('published_elsewhere');
    await untilLive();
  });

  it('goes to the next publisher once its owner has unpublished it', async () => {
    await publishLive();
    await unpublish();
    const owner = { ...OWNER, instance_id: 'instance-2' };
    expect((await put({ owner })).body.owner).toEqual(owner);
    await untilLive();
  });

  it('stays when it was defined by the API and is live at another address; at the same address it is taken', async () => {
    const fields = { name: 'find_order', kind: 'Webhook' };
    const { body: tool } = await service.api.post('/api/tools', {
      ...fields,
      ...definition({ endpoint: `${endpoint.url}/elsewhere` }),
    });
    await service.api.post(`/api/tools/${tool.id}/test`, {});
    await service.api.post(`/api/tools/${tool.id}/go-live`, {});
    const refused = await put();
    expect(refused.body.error).toMatchObject({ code: 'published_elsewhere' });
    expect(refused.body.error.message).toContain(`live at ${endpoint.url}/elsewhere`);
    const here = definition({ endpoint: `${endpoint.url}/elsewhere` });
    expect((await put({ definition: here })).body.id).toBe(tool.id);
    await untilLive();
  });

  it('stays when it is of the HTTP kind, whatever the publisher asks', async () => {
    await endpoint.defineHttp(service.api, { name: 'find_order' });
    const refused = await put({ take_over: true });
    expect(refused.body.error).toMatchObject({
      code: 'tool_exists',
      message: expect.stringContaining('HTTP tool'),
    });
  });
});
