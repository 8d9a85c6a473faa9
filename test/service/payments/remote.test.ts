import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { respondJson } from '../../helpers/jsonServer.ts';
import { startStripeServer, stripeError, type StripeServer } from '../../helpers/stripeServer.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  allDelivered,
  linkIn,
  linksOf,
  makeLink,
  newConversation,
  pageOf,
  paidEventsOf,
  readLink,
  requestLink,
  setUpManual,
  stageOf,
  subscribeToPayments,
} from './support.ts';

const DAY_MS = 24 * 3_600_000;
/** The first wait before a provider is asked again, and a little more. */
const RETRY_MS = 2_100;

describe('a payment link whose page a provider makes', () => {
  let service: TestService;
  let stripe: StripeServer;
  let receiver: EventReceiver;
  let conversationId: string;
  let skewMs = 0;
  /** How long requests are told to wait for a page. They wait `shorterMs` instead if it is set. */
  const waits: number[] = [];
  let shorterMs: number | null = null;
  beforeAll(async () => {
    receiver = await startEventReceiver();
    stripe = await startStripeServer({ now: () => Date.now() + skewMs });
    service = await startTestService({
      ca: receiver.ca,
      clock: { now: () => new Date(Date.now() + skewMs) },
      env: { STRIPE_API_URL: stripe.url },
      paymentWait: (ms) => {
        waits.push(ms);
        return shorterMs ?? ms;
      },
    });
    await subscribeToPayments(receiver, service);
  });
  beforeEach(async () => {
    skewMs = 0;
    shorterMs = null;
    stripe.answerAll(null);
    await setUpManual(service);
    await setUpStripe();
    conversationId = await newConversation(service);
  });
  afterAll(async () => {
    await service?.stop();
    await stripe?.close();
    await receiver?.close();
  });

  const setUpStripe = (key = stripe.secretKey) =>
    service.api.put('/api/payment-accounts/stripe', { settings: { secret_key: key } });
  const create = (wanted: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
    requestLink(service, conversationId, wanted, headers);
  const cancel = (id: string) => service.api.post(`/api/payment-links/${id}/cancel`);
  const open = async (link: { url: string }, query = '') => {
    const response = await fetch(pageOf(service, link, query), { redirect: 'manual' });
    return { response, text: await response.text() };
  };
  const onlyLink = () =>
    waitFor('the link', async () => {
      const links = await linksOf(service, conversationId);
      expect(links.length).toBeLessThanOrEqual(1);
      return links[0];
    });
  const linkWithError = () =>
    waitFor('a try that failed', async () => {
      const link = await onlyLink();
      return link.error !== null && link;
    });
  const qualifiedEventsOf = async (id: string) => {
    await allDelivered(service);
    return receiver
      .payloads('conversation.qualified')
      .filter(({ conversation }) => conversation.id === id);
  };
  /**
   * Holds every answer of the provider until `letGo` is called. The provider acts on each request at
   * once.
   */
  const holdAnswers = () => {
    let letGo = () => {};
    const held = new Promise<void>((resolve) => (letGo = resolve));
    let asked = 0;
    stripe.answerAll(async (response, _request, proceed) => {
      const { status, body } = proceed();
      asked++;
      await Promise.race([held, once(response, 'close')]);
      if (!response.destroyed) respondJson(response, status, body);
    });
    return {
      asked: () => waitFor('the provider to be asked', () => asked > 0),
      letGo: () => {
        stripe.answerAll(null);
        letGo();
      },
    };
  };
  const sessionExpired = (id: string) =>
    waitFor('the session to be expired', () => stripe.sessionOf(id).status === 'expired');
  const breakDown = () => stripe.answerAll(stripeError(503));

  it('answers once the page is there; the link leads to it, and stripe is chosen before manual', async () => {
    const { status, body: link } = await create();
    expect(status).toBe(201);
    const session = stripe.sessionOf(link.id);
    expect(link).toMatchObject({
      status: 'open',
      provider: 'stripe',
      provider_reference: session.id,
      error: null,
    });
    expect(link.url).toMatch(/\/pay\/[A-Za-z0-9_-]{32}$/);
    expect(session).toMatchObject({
      amount_total: 4900,
      currency: 'usd',
      metadata: { payment_id: link.id, conversation_id: conversationId },
    });
    const { response } = await open(link);
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe(session.url);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('referrer-policy')).toBe('same-origin');
    expect(await stageOf(service, conversationId)).toBe('payment_pending');
    expect((await create({ provider: 'manual' })).body).toMatchObject({
      provider: 'manual',
      status: 'open',
    });
  });

  it.each([1799, 86_401])(
    'refuses a life of %i seconds, and says which lives are allowed',
    async (expires_in) => {
      const error = {
        code: 'invalid_request',
        param: 'expires_in',
        message: 'expires_in must be from 1800 to 86400 seconds with stripe.',
      };
      expect(await create({ expires_in })).toMatchObject({ status: 400, body: { error } });
    },
  );

  it('says in the words of the provider why it refused; the link stays on record, and the same key asks no second time', async () => {
    await setUpStripe('sk_test_WrongKeyOfNobody000');
    const key = { 'idempotency-key': `refused-${conversationId}` };
    const answer = await create({}, key);
    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'payment_refused' } } });
    expect(answer.body.error.message).toContain('Stripe does not accept the secret key.');
    const link = await onlyLink();
    expect(link).toMatchObject({ status: 'failed', provider_reference: null });
    expect(answer.body.error.message).toContain(link.error);
    await setUpStripe();
    const again = await create({}, key);
    expect(again).toMatchObject({ status: 422, body: { error: { code: 'payment_refused' } } });
    expect((await onlyLink()).status).toBe('failed');
    expect((await open(link)).text).toContain('<h2>Not available</h2>');
    const refused = await cancel(link.id);
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'payment_not_open' } } });
    expect(refused.body.error.message).toContain('was refused by its provider');
    expect(await stageOf(service, conversationId)).toBe('new');
    expect(await qualifiedEventsOf(conversationId)).toEqual([]);
  });

  it('asks again when the provider cannot be reached, and says until then that the page is being prepared', async () => {
    breakDown();
    const answer = create();
    const link = await linkWithError();
    expect(link).toMatchObject({ status: 'creating', provider_reference: null });
    expect(await stageOf(service, conversationId)).toBe('new');
    const { text } = await open(link);
    expect(text).toContain('<h2>Getting ready</h2>');
    expect(text).toContain(
      `<meta http-equiv="refresh" content="3;url=${new URL(link.url).pathname}?reload=1"`,
    );
    expect((await open(link, '?reload=20')).text).not.toContain('http-equiv');
    stripe.answerAll(null);
    skewMs += RETRY_MS;
    expect(await answer).toMatchObject({
      status: 201,
      body: {
        id: link.id,
        status: 'open',
        error: null,
        provider_reference: stripe.sessionOf(link.id).id,
      },
    });
    expect((await open(link)).response.status).toBe(303);
    expect(await stageOf(service, conversationId)).toBe('payment_pending');
    expect(await qualifiedEventsOf(conversationId)).toMatchObject([
      { funnel: { stage: 'payment_pending', previous_stage: 'new' } },
    ]);
  });

  it('answers `creating` after 15 seconds, and the page comes later by itself', async () => {
    const { asked, letGo } = holdAnswers();
    shorterMs = 100;
    const { status, body } = await create();
    expect([status, body.status, waits.at(-1)]).toEqual([201, 'creating', 15_000]);
    await asked();
    letGo();
    await linkIn(service, body.id, 'open');
  });

  it('has one page for an Idempotency-Key, also while the provider is still being asked', async () => {
    const { asked, letGo } = holdAnswers();
    const key = { 'idempotency-key': `twin-${conversationId}` };
    const answers = Array.from({ length: 5 }, () => create({}, key));
    await asked();
    answers.push(create({}, key));
    letGo();
    const bodies = (await Promise.all(answers)).map(({ body }) => body);
    const [link] = bodies;
    for (const body of bodies) expect(body).toEqual({ ...link, status: 'open' });
    const session = stripe.sessionOf(link.id);
    expect(session.status).toBe('open');
    await stripe.pay(session.id);
    await open(link, '?from=provider');
    await linkIn(service, link.id, 'paid');
    // The same link, as it stands now.
    const again = await create({}, key);
    expect(again).toMatchObject({ status: 201, body: { id: link.id, status: 'paid' } });
  });

  it('is found to be paid, once, when the customer comes back, although no webhook comes', async () => {
    const link = await makeLink(service, conversationId);
    const session = stripe.sessionOf(link.id);
    const back = new URL(session.success_url);
    expect(back.pathname + back.search).toBe(`${new URL(link.url).pathname}?from=provider`);
    const before = await open(link, '?from=provider');
    expect(before.response.status).toBe(200);
    expect(before.text).toContain(`<a class="button" href="${session.url}"`);
    expect(before.text).toMatch(
      /http-equiv="refresh" content="3;url=\/pay\/[^"]+from=provider&amp;reload=1"/,
    );
    await stripe.pay(session.id);
    const paid = await waitFor('the page to say so', async () => {
      const { text } = await open(link, '?from=provider');
      return text.includes('<h2>Paid</h2>') && text;
    });
    expect(paid).not.toContain('http-equiv');
    const provider_reference = session.id;
    expect(await readLink(service, link.id)).toMatchObject({ status: 'paid', provider_reference });
    expect(await paidEventsOf(receiver, service, link.id)).toMatchObject([
      {
        payment: { provider: 'stripe', provider_reference },
        conversation: { funnel_stage: 'customer' },
      },
    ]);
    expect((await open(link)).text).toContain('<h2>Paid</h2>');
    expect(receiver.faults).toEqual([]);
  });

  it('does not ask the provider at each load of the page: at most once in five seconds', async () => {
    const link = await makeLink(service, conversationId);
    const { id } = stripe.sessionOf(link.id);
    const asked = () =>
      stripe.requests.filter(({ method, path }) => method === 'GET' && path.endsWith(id)).length;
    await open(link, '?from=provider');
    await waitFor('the provider to be asked', () => asked() === 1);
    for (let n = 0; n < 10; n++) await open(link, '?from=provider');
    const other = await makeLink(service, conversationId); // by now, the queue has done what was due
    expect(asked()).toBe(1);
    await waitFor('the answer to be on record', async () => {
      skewMs += 5001;
      await open(link, '?from=provider');
      return asked() > 1;
    });
    await cancel(other.id);
  });

  it('has its page at the provider closed when it is cancelled', async () => {
    const link = await makeLink(service, conversationId);
    expect((await cancel(link.id)).body.status).toBe('cancelled');
    expect((await open(link)).text).toContain('<h2>Cancelled</h2>');
    await sessionExpired(link.id);
    expect((await cancel(link.id)).body.status).toBe('cancelled');
    expect(await paidEventsOf(receiver, service, link.id)).toEqual([]);
  });

  it('has its page closed after all when the key that could not close it is corrected', async () => {
    const link = await makeLink(service, conversationId);
    await setUpStripe('sk_test_WrongKeyOfNobody000');
    await cancel(link.id);
    await waitFor('the provider to refuse', async () =>
      (await readLink(service, link.id)).error?.includes('did not close its page'),
    );
    await setUpStripe();
    skewMs += 61_000; // the first wait before the provider is asked again
    await sessionExpired(link.id);
    await waitFor('the refusal to be forgotten', async () => {
      const { status, error } = await readLink(service, link.id);
      return status === 'cancelled' && error === null;
    });
  });

  it('is paid when the customer paid before the cancelling reached the provider', async () => {
    const link = await makeLink(service, conversationId);
    await stripe.pay(stripe.sessionOf(link.id).id);
    expect((await cancel(link.id)).body.status).toBe('cancelled');
    await linkIn(service, link.id, 'paid');
    expect(await paidEventsOf(receiver, service, link.id)).toHaveLength(1);
  });

  it('is cancelled while its page is being made: the page is closed as soon as it is known', async () => {
    const { asked, letGo } = holdAnswers();
    const answer = create();
    await asked();
    const { id } = await onlyLink();
    expect((await cancel(id)).body).toMatchObject({
      status: 'cancelled',
      provider_reference: null,
    });
    letGo();
    expect((await answer).body).toMatchObject({ id, status: 'cancelled' });
    await sessionExpired(id);
    expect(await readLink(service, id)).toMatchObject({
      status: 'cancelled',
      provider_reference: stripe.sessionOf(id).id,
    });
  });

  it('is closed at the provider and expired some time after its end', async () => {
    const link = await makeLink(service, conversationId, { expires_in: 1800 });
    skewMs = 1_800_000 + 1000;
    expect((await open(link)).text).toContain('<h2>Expired</h2>');
    // the provider has the last word
    expect((await readLink(service, link.id)).status).toBe('open');
    skewMs = 1_800_000 + 31_000;
    await linkIn(service, link.id, 'expired');
    expect(stripe.sessionOf(link.id)).toMatchObject({ status: 'expired', url: null });
    expect(await paidEventsOf(receiver, service, link.id)).toEqual([]);
  });

  it('has its page closed after its end by a later try when the provider refused the first', async () => {
    const link = await makeLink(service, conversationId, { expires_in: 1800 });
    await setUpStripe('sk_test_WrongKeyOfNobody000');
    skewMs = 1_800_000 + 31_000;
    await waitFor('the provider to refuse', async () =>
      (await readLink(service, link.id)).error?.includes('did not close its page'),
    );
    await setUpStripe();
    skewMs += 61_000; // the first wait before the provider is asked again
    await sessionExpired(link.id);
    await linkIn(service, link.id, 'expired');
    expect(await readLink(service, link.id)).toMatchObject({ error: null });
  });

  it('is paid by a customer who pays while the provider has not closed its page', async () => {
    const link = await makeLink(service, conversationId, { expires_in: 1800 });
    await setUpStripe('sk_test_WrongKeyOfNobody000');
    skewMs = 1_800_000 + 31_000;
    await waitFor('the provider to refuse', async () =>
      (await readLink(service, link.id)).error?.includes('did not close its page'),
    );
    await stripe.pay(stripe.sessionOf(link.id).id);
    await setUpStripe();
    skewMs += 61_000;
    await linkIn(service, link.id, 'paid');
    expect(await paidEventsOf(receiver, service, link.id)).toHaveLength(1);
  });

  it('is paid, not expired, when it was paid unseen', async () => {
    const link = await makeLink(service, conversationId);
    await stripe.pay(stripe.sessionOf(link.id).id);
    skewMs = DAY_MS + 31_000;
    await linkIn(service, link.id, 'paid');
    expect(await stageOf(service, conversationId)).toBe('customer');
    expect(await paidEventsOf(receiver, service, link.id)).toHaveLength(1);
  });

  it('waits beyond its end for money that a bank still holds, but for a month at most', async () => {
    const slow = await makeLink(service, conversationId);
    const never = await makeLink(service, conversationId);
    for (const { id } of [slow, never]) await stripe.pay(stripe.sessionOf(id).id, { async: true });
    // The clock is moved only when every answer is on record: it would end the lease of an attempt.
    const waitForErrors = (what: string, isIt: (error: string | null) => boolean) =>
      waitFor(what, async () => {
        const links = await Promise.all([slow, never].map(({ id }) => readLink(service, id)));
        return links.every(({ status, error }) => status === 'open' && isIt(error));
      });
    const waitForFailures = () =>
      waitForErrors('what is in the way to be said', (error) => error?.includes('503') === true);
    const LONGEST_WAIT_MS = 6 * 3_600_000;
    breakDown();
    skewMs = DAY_MS + 31_000;
    await waitForFailures();
    stripe.answerAll(null);
    skewMs += LONGEST_WAIT_MS;
    await waitForErrors('it to be forgotten once Stripe answers', (error) => error === null);
    breakDown();
    skewMs = 30 * DAY_MS;
    await waitForFailures();
    stripe.answerAll(null);
    await stripe.settle(stripe.sessionOf(slow.id).id, 'succeeded');
    skewMs += LONGEST_WAIT_MS;
    await linkIn(service, slow.id, 'paid');
    await waitFor('the other one to be asked about', async () => {
      const { status, error } = await readLink(service, never.id);
      return status === 'open' && error === null;
    });
    skewMs = 32 * DAY_MS;
    await linkIn(service, never.id, 'expired');
  });

  it('is paid by bank debit: its page says that the bank still has to confirm, and asks again when it is opened later', async () => {
    const link = await makeLink(service, conversationId);
    const session = stripe.sessionOf(link.id).id;
    await stripe.pay(session, { async: true });
    await open(link, '?from=provider');
    await waitFor('the page to say so', async () =>
      (await open(link, '?from=provider')).text.includes('Your bank still has to confirm'),
    );
    expect((await open(link)).response.status).toBe(200);
    await stripe.settle(session, 'succeeded');
    skewMs = 60_000; // long before its end: only the page can make the service ask
    await open(link);
    await linkIn(service, link.id, 'paid');
    expect(await paidEventsOf(receiver, service, link.id)).toHaveLength(1);
  });

  it('fails, and says why, when the provider is not reached before the link’s time is over', async () => {
    breakDown();
    const answer = create({ expires_in: 1800 });
    await linkWithError();
    skewMs = 1_801_000;
    expect(await answer).toMatchObject({
      status: 422,
      body: { error: { code: 'payment_refused' } },
    });
    expect(await onlyLink()).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('503'),
    });
  });

  it('fails when the account is removed while it is being made', async () => {
    breakDown();
    const answer = create();
    await linkWithError();
    await service.api.delete('/api/payment-accounts/stripe');
    skewMs += RETRY_MS;
    expect(await answer).toMatchObject({ status: 422 });
    expect(await onlyLink()).toMatchObject({
      status: 'failed',
      error: 'Stripe is no longer set up here.',
    });
  });

  it('expires with a hint when the account was removed before its end', async () => {
    const link = await makeLink(service, conversationId);
    await service.api.delete('/api/payment-accounts/stripe');
    skewMs = DAY_MS + 31_000;
    expect(await linkIn(service, link.id, 'expired')).toMatchObject({
      error: 'Stripe is no longer set up here. Check there whether this was paid.',
    });
  });

  it('cannot be marked as paid by hand: the provider reports it', async () => {
    const link = await makeLink(service, conversationId);
    const answer = await service.api.post(`/api/payment-links/${link.id}/mark-paid`, {});
    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'payment_not_open' } } });
    expect(answer.body.error.message).toContain('stripe reports its payments itself');
    expect((await readLink(service, link.id)).status).toBe('open');
  });

  it('is made, and closed, even when the service stops in the middle', async () => {
    breakDown();
    const answer = create().catch(() => null);
    const { id } = await linkWithError();
    await service.restart();
    await answer;
    stripe.answerAll(null);
    skewMs += RETRY_MS;
    await linkIn(service, id, 'open');
    breakDown();
    await cancel(id);
    await service.restart();
    stripe.answerAll(null);
    skewMs += RETRY_MS;
    await sessionExpired(id);
  });
});
