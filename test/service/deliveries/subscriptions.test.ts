import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestService, type TestService } from '../../helpers/service.ts';

describe('subscriptions', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service?.stop());

  const target = (path: string) => `https://127.0.0.1:9/${path}`;
  const create = (body: unknown) => service.api.post('/api/hooks', body);

  it('creates one, shows its secret once, and lists it without the secret', async () => {
    const { status, body } = await create({
      event: 'message.sent',
      target_url: target('a'),
      source: 'n8n',
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^sub_/),
      event: 'message.sent',
      events: ['message.sent'],
      filter: null,
      target_url: target('a'),
      source: 'n8n',
      owner: null,
      paused: false,
      catch_up: false,
      revision: 1,
      status: 'active',
      consecutive_failures: 0,
      last_delivery_at: null,
      created_at: expect.stringMatching(/\+00:00$/),
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const { secret, ...shown } = body;
    const list = await service.api.get('/api/hooks');
    expect(list.body.data).toContainEqual(shown);
    expect(JSON.stringify(list.body)).not.toContain(secret);
  });

  it('refuses a second one for the same event and target_url, and names the first', async () => {
    const first = await create({ event: 'message.sent', target_url: target('twin') });
    expect(await create({ event: 'message.sent', target_url: target('twin') })).toMatchObject({
      status: 409,
      body: { error: { code: 'subscription_exists', existing_id: first.body.id } },
    });
    const createAt = (target_url: string) => create({ event: 'message.received', target_url });
    expect((await createAt(target('twin'))).status).toBe(201);
    await createAt('https://127.0.0.1');
    for (const spelling of ['https://127.0.0.1/', 'HTTPS://127.0.0.1:443/', 'https://127.1'])
      expect((await createAt(spelling)).body.error.code).toBe('subscription_exists');
  });

  it('deletes one, which is then no longer listed; a second deletion is a 404', async () => {
    const { body } = await create({ event: 'message.sent', target_url: target('gone') });
    expect(await service.api.delete(`/api/hooks/${body.id}`)).toMatchObject({
      status: 200,
      body: { id: body.id, deleted: true },
    });
    expect((await service.api.delete(`/api/hooks/${body.id}`)).status).toBe(404);
    expect(JSON.stringify((await service.api.get('/api/hooks')).body)).not.toContain(body.id);
  });

  it('lists the events with description and sample, and gives each sample by itself', async () => {
    const { data } = (await service.api.get('/api/hooks/events')).body;
    expect(data.map(({ name }: { name: string }) => name)).toEqual([
      'conversation.opened',
      'conversation.qualified',
      'conversation.handed_over',
      'conversation.closed',
      'message.received',
      'message.sent',
      'payment.paid',
      'conversation.awaiting_human',
      'approval.requested',
      'approval.decided',
    ]);
    const extra: Record<string, string> = {
      'conversation.qualified': 'funnel',
      'conversation.handed_over': 'handover',
      'conversation.closed': 'outcome',
      'message.received': 'message',
      'message.sent': 'message',
      'payment.paid': 'payment',
      'conversation.awaiting_human': 'handover',
      'approval.requested': 'approval',
      'approval.decided': 'approval',
    };
    for (const { name, sample } of data) {
      const { status, body } = await service.api.get(`/api/hooks/sample?event=${name}`);
      expect(status).toBe(200);
      const base = ['id', 'event', 'occurred_at', 'workspace', 'conversation'];
      expect(Object.keys(body)).toEqual(extra[name] ? [...base, extra[name]] : base);
      expect(Object.keys(body)).toEqual(Object.keys(sample));
      expect(JSON.stringify(body)).not.toMatch(/5491155550134|maria@example/);
    }
  });

  const expectRefused = async (body: object, refusal: object) => {
    const before = (await service.api.get('/api/hooks')).body.data.length;
    expect(await create(body)).toMatchObject(refusal);
    expect((await service.api.get('/api/hooks')).body.data).toHaveLength(before);
  };
  const event = 'message.sent';

  it.each([
    [{ event: 'message.deleted', target_url: target('x') }, 'unknown_event', 'event'],
    [{ event: 'toString', target_url: target('x') }, 'unknown_event', 'event'],
    [{ event: 5, target_url: target('x') }, 'invalid_request', 'event'],
    [{ target_url: target('x') }, 'invalid_request', 'event'],
    [{ event }, 'invalid_request', 'target_url'],
    [{ event, target_url: target('x'), source: 'x'.repeat(65) }, 'invalid_request', 'source'],
  ])('refuses %j', (body, code, param) =>
    expectRefused(body, { status: 400, body: { error: { code, param } } }),
  );

  it.each([
    ['no address', 'target_url_invalid'],
    ['https://user:password@example.com/', 'target_url_invalid'],
    [' https://127.0.0.1/', 'target_url_invalid'],
    ['https://127.0.0.1/\r\nx', 'target_url_invalid'],
    ['https:127.0.0.1', 'target_url_invalid'],
    ['https:///127.0.0.1', 'target_url_invalid'],
    ['https://127.0.0.1/#x', 'target_url_invalid'],
    ['https://127.0.0.1\\@8.8.8.8/', 'target_url_invalid'],
    ['http://example.com/hook', 'target_url_not_https'],
    ['ftp://example.com/hook', 'target_url_not_https'],
    ['https://10.0.0.1/hook', 'target_url_not_public'],
    ['https://[::ffff:10.0.0.1]/hook', 'target_url_not_public'],
    ['https://169.254.169.254/latest', 'target_url_not_public'],
    ['https://nothing.invalid/hook', 'target_url_unresolvable'],
  ])('refuses the target %j as %s', (url, code) =>
    expectRefused(
      { event, target_url: url },
      { status: 422, body: { error: { code, param: 'target_url' } } },
    ),
  );

  it('refuses a loopback target unless its network is allowed', async () => {
    const strict = await startTestService({ env: { ALLOWED_NETWORKS: '' } });
    try {
      for (const host of ['127.0.0.1', 'localhost', '127.1', '2130706433', '[::1]'])
        expect(
          await strict.api.post('/api/hooks', { event, target_url: `https://${host}/x` }),
        ).toMatchObject({ status: 422, body: { error: { code: 'target_url_not_public' } } });
    } finally {
      await strict.stop();
    }
  });

  it('allows http targets within ALLOWED_NETWORKS only with INSECURE_TARGETS', async () => {
    const local = await startTestService({ env: { INSECURE_TARGETS: 'true' } });
    try {
      const subscribe = (target_url: string) => local.api.post('/api/hooks', { event, target_url });
      expect((await subscribe('http://127.0.0.1:5678/webhook/x')).status).toBe(201);
      expect(await subscribe('http://1.1.1.1/x')).toMatchObject({
        status: 422,
        body: { error: { code: 'target_url_not_https' } },
      });
    } finally {
      await local.stop();
    }
  });

  it('are at most 25, even when many are created at once; the refusal counts them by source', async () => {
    const own = await startTestService();
    try {
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, n) =>
          own.api.post('/api/hooks', {
            event: 'message.sent',
            target_url: target(`n${n}`),
            source: n % 2 ? 'n8n' : '',
          }),
        ),
      );
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(25);
      const refused = answers.filter(({ status }) => status === 409);
      expect(refused).toHaveLength(5);
      for (const { body } of refused) {
        expect(body.error.code).toBe('subscription_limit_reached');
        expect(body.error.message).toMatch(/has 25: .*from "n8n" \(\d+\)/);
      }
      const { data, next_cursor } = (await own.api.get('/api/hooks?limit=20')).body;
      const rest = (await own.api.get(`/api/hooks?limit=20&cursor=${next_cursor}`)).body;
      expect([data.length, rest.data.length, rest.next_cursor]).toEqual([20, 5, null]);
    } finally {
      await own.stop();
    }
  });
});
