import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  getPaymentAccount,
  putPaymentAccount,
} from '../../../service/src/payments/operations/paymentAccounts.ts';
import { testPaymentAccount } from '../../../service/src/payments/accounts.ts';
import { createWorkspace } from '../../../service/src/team/operations/team.ts';
import { openFreshStore } from '../../helpers/openStore.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { hang, startStripeServer } from '../../helpers/stripeServer.ts';
import { testDeps } from '../../helpers/testDeps.ts';
import {
  INSTRUCTIONS,
  makeLink,
  newConversation,
  readLink,
  requestLink,
  setUpManual,
} from './support.ts';

const SECRET_KEY = 'sk_test_NeverShownToAnybody0001';

describe('payment accounts', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterEach(async () => {
    for (const { provider } of await accounts())
      await service.api.delete(`/api/payment-accounts/${provider}`);
  });
  afterAll(() => service?.stop());

  const put = (provider: string, settings: Record<string, unknown>) =>
    service.api.put(`/api/payment-accounts/${provider}`, { settings });
  const accounts = async () => (await service.api.get('/api/payment-accounts')).body.data;

  it('makes no link before one is set up, and says so', async () => {
    const conversationId = await newConversation(service);
    const answer = await requestLink(service, conversationId);
    expect(answer).toMatchObject({
      status: 409,
      body: { error: { code: 'payment_provider_missing' } },
    });
    expect(answer.body.error.message).toMatch(
      /^No payment provider is set up in this workspace\. /,
    );
    await setUpManual(service);
    expect((await requestLink(service, conversationId)).status).toBe(201);
  });

  it('sets manual up and changes it: the account stays the same one', async () => {
    const first = (await setUpManual(service)).body;
    expect(first).toEqual({
      provider: 'manual',
      settings: { instructions: INSTRUCTIONS },
      secrets_set: [],
      webhook_url: null,
      last_test: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const second = (await put('manual', { instructions: 'Cash only.' })).body;
    expect(second).toMatchObject({
      settings: { instructions: 'Cash only.' },
      created_at: first.created_at,
    });
    expect(await accounts()).toEqual([second]);
  });

  it('makes one account of many that are set up at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => put('manual', { instructions: `Way ${n}` })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(await accounts()).toHaveLength(1);
  });

  it('keeps secrets sealed: never shown, not in the clear in what is stored, and what is left out stays', async () => {
    const first = await put('stripe', {
      secret_key: SECRET_KEY,
      webhook_secret: 'whsec_NeverShownEither0002',
    });
    expect(first).toMatchObject({
      status: 200,
      body: { provider: 'stripe', settings: {}, secrets_set: ['secret_key', 'webhook_secret'] },
    });
    expect(first.body.webhook_url).toMatch(
      /^http:\/\/localhost:\d+\/api\/payments\/stripe\/webhook\/pac_[0-9A-Z]{26}$/,
    );
    const second = await put('stripe', { webhook_secret: '' });
    expect(second.body).toMatchObject({
      secrets_set: ['secret_key'],
      webhook_url: first.body.webhook_url,
    });
    expect(JSON.stringify([first.body, second.body, await accounts()])).not.toContain('NeverShown');
    const stored = await service.stored();
    expect(stored).toContain(/pac_[0-9A-Z]{26}/.exec(first.body.webhook_url)![0]);
    expect(stored).not.toContain('NeverShown');
  });

  it.each([
    ['stripe', {}, 'settings.secret_key'],
    ['stripe', { secret_key: 'pk_test_publishable000' }, 'settings.secret_key'],
    ['stripe', { secret_key: SECRET_KEY, webhook_secret: 'secret' }, 'settings.webhook_secret'],
    ['stripe', { secret_key: SECRET_KEY, api_key: 'x' }, 'settings.api_key'],
    ['manual', {}, 'settings.instructions'],
    ['manual', { instructions: '  ' }, 'settings.instructions'],
    ['manual', { instructions: 'x'.repeat(4001) }, 'settings.instructions'],
    ['manual', { instructions: 5 }, 'settings.instructions'],
  ])('refuses for %s: %j', async (provider, settings, param) => {
    const answer = await put(provider, settings);
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request', param } },
    });
    expect(answer.body.error.message).not.toContain('NeverShown');
    expect(await accounts()).toEqual([]);
  });

  it('lists the preferred one first, whichever was set up first', async () => {
    await setUpManual(service);
    await put('stripe', { secret_key: SECRET_KEY });
    expect(await accounts()).toMatchObject([{ provider: 'stripe' }, { provider: 'manual' }]);
  });

  it('tests manual: there is nothing to reach; the result is shown, until the account is changed', async () => {
    await setUpManual(service);
    const test = await service.api.post('/api/payment-accounts/manual/test');
    expect(test).toMatchObject({
      status: 200,
      body: { ok: true, message: expect.stringMatching(/nothing to reach/) },
    });
    expect(await accounts()).toMatchObject([{ last_test: test.body }]);
    await put('manual', { instructions: 'Cash only.' });
    expect(await accounts()).toMatchObject([{ last_test: null }]);
  });

  it('removes one: its open links stay, new ones are refused', async () => {
    await setUpManual(service);
    const conversationId = await newConversation(service);
    const link = await makeLink(service, conversationId);
    expect(await service.api.delete('/api/payment-accounts/manual')).toMatchObject({
      status: 200,
      body: { id: 'manual', deleted: true },
    });
    expect(await accounts()).toEqual([]);
    expect(await readLink(service, link.id)).toEqual(link);
    expect((await requestLink(service, conversationId)).status).toBe(409);
    const { body } = await service.api.post(`/api/payment-links/${link.id}/mark-paid`, {});
    expect(body.status).toBe('paid');
  });

  it('answers 404 for a provider that is not set up, or does not exist', async () => {
    for (const provider of ['manual', 'stripe', 'paypal', '__proto__']) {
      expect((await service.api.delete(`/api/payment-accounts/${provider}`)).status).toBe(404);
      expect((await service.api.post(`/api/payment-accounts/${provider}/test`)).status).toBe(404);
    }
    expect(await put('paypal', { instructions: 'x' })).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    });
  });

  it('takes no Idempotency-Key where secrets are written', async () => {
    const answer = await service.api.call(
      'PUT',
      '/api/payment-accounts/manual',
      { settings: { instructions: 'x' } },
      { 'idempotency-key': 'k' },
    );
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { code: 'idempotency_key_not_allowed' } },
    });
    expect(await accounts()).toEqual([]);
  });
});

it('a test of a provider that does not answer fails in words, and the result is kept', async () => {
  const fresh = await openFreshStore();
  const server = await startStripeServer();
  try {
    server.answerAll(hang());
    const agent = { quietMs: 0, approvalExpiresMs: 1 };
    const deps = testDeps({ store: fresh.store, agent });
    const workspace = await createWorkspace(deps, 'Test');
    await putPaymentAccount(deps, workspace, 'stripe', { secret_key: server.secretKey });
    const config = { stripeApiUrl: server.url, timeoutMs: 200 };
    const test = await testPaymentAccount(deps, config, workspace, 'stripe');
    expect(test).toMatchObject({ ok: false, message: 'Stripe did not answer within 0.2 s.' });
    expect(await getPaymentAccount(deps, workspace, 'stripe')).toMatchObject({ lastTest: test });
  } finally {
    await server.close();
    await fresh.remove();
  }
});
