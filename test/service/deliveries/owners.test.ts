import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { MEMBER_ENV, signedInBrowser } from '../../helpers/browserless.ts';
import { removeSubscriptions } from '../../helpers/removeSubscriptions.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';

const OWNER = {
  instance_id: 'first',
  workflow_id: 'w1',
  workflow_name: 'Lead to CRM',
  node_id: 'n1',
  host: 'n8n.example.com',
};
const OTHER = { ...OWNER, instance_id: 'second' };
const target = (path: string) => `https://127.0.0.1:9/${path}`;

describe("a subscription's owner", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ env: MEMBER_ENV });
  });
  afterAll(() => service?.stop());
  afterEach(() => removeSubscriptions(service.api));

  const create = (body: object) =>
    service.api.post('/api/hooks', {
      event: 'message.sent',
      target_url: target('a'),
      source: 'n8n',
      owner: OWNER,
      ...body,
    });
  const list = async () => (await service.api.get('/api/hooks')).body.data;

  it('is shown, and keeps another n8n off the path of its address; the other is told who has it', async () => {
    const { body: first } = await create({});
    expect(first.owner).toEqual(OWNER);
    const refused = await create({ owner: OTHER, event: 'message.received' });
    expect(refused).toMatchObject({
      status: 409,
      body: { error: { code: 'published_elsewhere', existing_id: first.id, param: 'target_url' } },
    });
    expect(refused.body.error.message).toContain(
      'the workflow "Lead to CRM" of the n8n at n8n.example.com',
    );
    const elsewhere = { owner: OTHER, target_url: 'https://127.0.0.2:9/a' };
    expect((await create(elsewhere)).body.error.code).toBe('published_elsewhere');
    const moved = { ...OWNER, host: 'other.example.com' };
    for (const target_url of [target('a'), target('a').replace('127.0.0.1:9', '127.0.0.1:8')])
      expect((await create({ owner: moved, target_url })).body.error.code).toBe(
        'published_elsewhere',
      );
    const { secret: _secret, ...shown } = first;
    expect(await list()).toEqual([shown]);
  });

  it('leaves other addresses free, and its own to callers without an owner and other workflows of the same n8n', async () => {
    await create({});
    expect((await create({ owner: OTHER, target_url: target('b') })).status).toBe(201);
    expect((await create({ owner: null, event: 'message.received' })).status).toBe(201);
    const neighbour = { ...OWNER, workflow_id: 'w2', node_id: 'n2' };
    expect((await create({ owner: neighbour, event: 'conversation.closed' })).status).toBe(201);
    expect((await create({ owner: neighbour })).body.error.code).toBe('subscription_exists');
  });

  it('changes with take_over: id and deliveries stay, the secret is new, and the former owner keeps nothing', async () => {
    const { body: first } = await create({});
    const { body: second } = await create({ event: 'message.received' });
    await service.api.post(`/api/hooks/${first.id}/test`);
    const taken = await create({ owner: OTHER, take_over: true, catch_up: true });
    expect(taken).toMatchObject({
      status: 201,
      body: { id: first.id, revision: 2, owner: OTHER, catch_up: true },
    });
    expect(taken.body.secret).not.toBe(first.secret);
    expect((await list()).map(({ id }: { id: string }) => id)).toEqual([first.id]);
    expect((await service.api.get(`/api/hooks/${second.id}/deliveries`)).status).toBe(404);
    expect((await service.api.get(`/api/hooks/${first.id}/deliveries`)).body.data).toHaveLength(1);
    // The former n8n unpublishes: late, by revision, or as its owner.
    const deleted = async (query: string) =>
      (await service.api.delete(`/api/hooks/${first.id}?${query}`)).body.deleted;
    expect(await deleted('revision=1')).toBe(false);
    expect(await deleted('instance_id=first&host=n8n.example.com')).toBe(false);
    expect(await deleted('instance_id=second&host=n8n.example.com')).toBe(true);
  });

  it('keeps its path when the subscription of another n8n is changed', async () => {
    const { body: first } = await create({});
    const { body: other } = await create({ owner: OTHER, target_url: target('b') });
    const refused = await service.api.patch(`/api/hooks/${other.id}`, {
      target_url: 'https://127.0.0.2:9/a',
      events: ['conversation.closed'],
    });
    expect(refused).toMatchObject({
      status: 409,
      body: { error: { code: 'published_elsewhere', existing_id: first.id } },
    });
    expect(await list()).toMatchObject([{ target_url: target('b') }, { target_url: target('a') }]);
  });

  it('is released by a member: the next n8n may take the subscription, which goes on until then', async () => {
    const { body: first } = await create({});
    const browser = await signedInBrowser(service.url);
    const page = await browser.post(`/keys/subscriptions/${first.id}/release`, {});
    expect(page).toMatchObject({
      status: 200,
      path: `/keys/subscriptions/${first.id}?notice=released`,
    });
    expect(await list()).toMatchObject([{ id: first.id, owner: OWNER, status: 'active' }]);
    expect(await create({ owner: OTHER })).toMatchObject({
      status: 201,
      body: { id: first.id, owner: OTHER },
    });
    expect((await create({})).body.error.code).toBe('published_elsewhere');
  });

  it('is named when there is no room for another: how many each workflow has, and the others by source', async () => {
    const many = (count: number, path: string, body: object) =>
      Promise.all(
        Array.from({ length: count }, (_, n) =>
          create({ target_url: target(`${path}${n}`), ...body }),
        ),
      );
    await many(3, 'crm', {});
    await many(2, 'moved', { owner: { ...OWNER, host: 'other.example.com' } });
    await many(19, 'zapier', { owner: null, source: 'zapier' });
    await many(1, 'none', { owner: null, source: '' });
    const { status, body } = await create({ target_url: target('more') });
    expect({ status, code: body.error.code }).toEqual({
      status: 409,
      code: 'subscription_limit_reached',
    });
    expect(body.error.message).toContain(
      'this one has 25: from "zapier" (19), without a source; n8n.example.com: "Lead to CRM" (3); other.example.com: "Lead to CRM" (2). Unpublish',
    );
  });
});
