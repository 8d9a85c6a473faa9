import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ApiAnswer } from '../../helpers/apiClient.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import {
  linksOf,
  makeLink,
  newConversation,
  requestLink,
  setUpManual,
  stageOf,
} from './support.ts';

describe('payment links over the API', () => {
  let service: TestService;
  let conversationId: string;
  beforeAll(async () => {
    service = await startTestService();
    await setUpManual(service);
  });
  beforeEach(async () => {
    conversationId = await newConversation(service);
  });
  afterAll(() => service?.stop());

  const create = (wanted: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
    requestLink(service, conversationId, wanted, headers);

  it.each([
    [
      'zero',
      { amount: 0 },
      'amount',
      /whole number of minor units from 1 to 999999999999 \(4900 is 49\.00 USD/,
    ],
    ['a negative amount', { amount: -1 }, 'amount', /from 1 to/],
    ['a fraction', { amount: 49.5 }, 'amount', /whole number/],
    ['more than there is', { amount: 1_000_000_000_000 }, 'amount', /to 999999999999/],
    ['more than a number holds', { amount: 1e300 }, 'amount', /to 999999999999/],
    ['an amount as a text', { amount: '4900' }, 'amount', /whole number/],
    ['no amount', { amount: undefined }, 'amount', /is missing/],
    ['an unknown currency', { currency: 'abc' }, 'currency', /ISO 4217, such as usd/],
    ['gold', { currency: 'xau' }, 'currency', /ISO 4217/],
    ['a name for a currency', { currency: 'us dollars' }, 'currency', /three letters/],
    ['no currency', { currency: undefined }, 'currency', /is missing/],
    ['an empty description', { description: ' ' }, 'description', /must not be empty/],
    [
      'a description that is too long',
      { description: 'x'.repeat(201) },
      'description',
      /at most 200 characters/,
    ],
    ['an unknown provider', { provider: 'paypal' }, 'provider', /one of manual, stripe/],
    ['a life of 59 seconds', { expires_in: 59 }, 'expires_in', /at least 60/],
    [
      'a life of more than a year',
      { expires_in: 31_536_001 },
      'expires_in',
      /from 60 to 31536000 seconds with manual/,
    ],
    ['a life in fractions', { expires_in: 60.5 }, 'expires_in', /whole number/],
    ['an unknown field', { status: 'paid' }, undefined, /status/],
  ])('refuses %s, and makes nothing', async (_what, wanted, param, message) => {
    const answer = await create(wanted);
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request', ...(param === undefined ? {} : { param }) } },
    });
    expect(answer.body.error.message).toMatch(message);
    expect(await linksOf(service, conversationId)).toEqual([]);
    expect(await stageOf(service, conversationId)).toBe('new');
  });

  it.each([
    [{ amount: 1 }, 'US$0.01'],
    [{ amount: 999_999_999_999 }, 'US$9,999,999,999.99'],
    [{ amount: 4900, currency: 'JPY' }, 'JP¥4,900'],
    [{ amount: 4900, currency: 'kwd' }, 'KWD\u00a04.900'],
    [{ description: 'é'.repeat(200), expires_in: 60 }, 'US$49.00'],
    [{ expires_in: 31_536_000 }, 'US$49.00'],
  ])('takes %j', async (wanted, display) =>
    expect((await create(wanted)).body).toMatchObject({
      status: 'open',
      amount_display: display,
    }),
  );

  it('makes none in a closed conversation', async () => {
    const closing = { summary: 's', verdict: 'unknown' };
    await service.api.post(`/api/conversations/${conversationId}/close`, closing);
    expect(await create()).toMatchObject({
      status: 409,
      body: { error: { code: 'conversation_closed' } },
    });
    expect(await linksOf(service, conversationId)).toEqual([]);
  });

  it('makes none with a provider that is not set up, and says which and where', async () => {
    const answer = await create({ provider: 'stripe' });
    expect(answer).toMatchObject({
      status: 409,
      body: { error: { code: 'payment_provider_missing' } },
    });
    expect(answer.body.error.message).toBe(
      'The payment provider stripe is not set up in this workspace. Set the provider up under Payments, or name one that is set up.',
    );
    expect(await stageOf(service, conversationId)).toBe('new');
  });

  it('are made once for an Idempotency-Key, even by twenty requests at the same time', async () => {
    const key = { 'idempotency-key': 'links-1' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => create({}, key)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    expect(answers[0]!.status).toBe(201);
    expect((await create({}, key)).body).toEqual(answers[0]!.body);
    expect(await linksOf(service, conversationId)).toHaveLength(1);
    expect(await create({ amount: 1 }, key)).toMatchObject({
      status: 409,
      body: { error: { code: 'idempotency_key_reused' } },
    });
  });

  it('lists the newest first, page by page, by conversation and status', async () => {
    const made = [];
    for (let n = 1; n <= 5; n++) made.push(await makeLink(service, conversationId, { amount: n }));
    await makeLink(service, await newConversation(service));
    await service.api.post(`/api/payment-links/${made[1].id}/cancel`);

    const ofConversation = `/api/payment-links?conversation_id=${conversationId}`;
    const seen = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body }: ApiAnswer = await service.api.get(
        `${ofConversation}&limit=2${cursor && `&cursor=${cursor}`}`,
      );
      expect(body.data.length).toBeLessThanOrEqual(2);
      seen.push(...body.data.map(({ amount }: { amount: number }) => amount));
      cursor = body.next_cursor;
    }
    expect(seen).toEqual([5, 4, 3, 2, 1]);
    const cancelled = await service.api.get(`${ofConversation}&status=cancelled`);
    expect(cancelled.body.data.map(({ id }: { id: string }) => id)).toEqual([made[1].id]);
    expect((await service.api.get('/api/payment-links?conversation_id=conv_none')).body).toEqual({
      data: [],
      next_cursor: null,
    });
    for (const [param, value] of [
      ['status', 'lost'],
      ['cursor', 'x'],
    ])
      expect(await service.api.get(`/api/payment-links?${param}=${value}`)).toMatchObject({
        status: 400,
        body: { error: { param } },
      });
  });

  it('answers 404 for a link or a conversation that does not exist', async () => {
    for (const path of [
      '/api/payment-links/pay_none',
      '/api/payment-links/%00',
      `/api/payment-links/${'x'.repeat(500)}`,
    ]) {
      expect(await service.api.get(path)).toMatchObject({
        status: 404,
        body: { error: { code: 'not_found' } },
      });
    }
    expect((await service.api.post('/api/payment-links/pay_none/cancel')).status).toBe(404);
    expect((await service.api.post('/api/payment-links/pay_none/mark-paid', {})).status).toBe(404);
    expect((await requestLink(service, 'conv_none')).status).toBe(404);
  });
});
