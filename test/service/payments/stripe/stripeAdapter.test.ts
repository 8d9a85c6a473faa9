import { describe, expect, it } from '@jest/globals';
import type { Payment } from '../../../../service/src/payments/payment.ts';
import { stripe } from '../../../../service/src/payments/stripe/stripe.ts';
import {
  hang,
  hangUp,
  loseAnswer,
  notJson,
  replayedError,
  startStripeServer,
  stripeError,
  tooManyRequests,
} from '../../../helpers/stripeServer.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import {
  account,
  accountWith,
  at,
  context,
  create,
  HOUR_S,
  made,
  PAGE_URL,
  paymentOf,
  SECRET,
  server,
  useStripeServer,
} from './adapterStage.ts';

const DAY_S = 24 * HOUR_S;

describe('the Stripe adapter', () => {
  useStripeServer();

  describe('makes the page', () => {
    it('with what is paid, whose it is and the way back, and nothing about the customer', async () => {
      const payment = paymentOf();
      const answer = await create(payment);
      const session = server.sessionOf(payment.id);
      expect(answer).toEqual({ type: 'created', reference: session.id, url: session.url });
      const metadata = {
        payment_id: payment.id,
        conversation_id: payment.conversationId,
        workspace_id: payment.workspaceId,
      };
      expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/v1/checkout/sessions' });
      expect(server.requests[0]!.form).toEqual({
        mode: 'payment',
        line_items: {
          0: {
            quantity: '1',
            price_data: {
              currency: 'usd',
              unit_amount: '4900',
              product_data: { name: 'Demo, one hour & more' },
            },
          },
        },
        client_reference_id: payment.id,
        metadata,
        payment_intent_data: { metadata, description: 'Demo, one hour & more' },
        expires_at: String(Math.floor(Date.parse(payment.expiresAt) / 1000) + 35 * 60),
        success_url: `${PAGE_URL}?from=provider`,
        cancel_url: `${PAGE_URL}?from=provider`,
      });
      expect(server.requests[0]!.headers['stripe-version']).toBe('2026-10-28.endive');
      expect(server.requests[0]!.headers['x-stripe-client-user-agent']).not.toMatch(
        /platform|telemetry_id/,
      );
    });

    it("in Stripe's own units", async () => {
      const payment = paymentOf({ currency: 'isk', amount: 500 });
      await made(payment);
      expect(server.sessionOf(payment.id)).toMatchObject({ currency: 'isk', amount_total: 50_000 });
    });

    it.each([
      ['the shortest life', 30 * 60],
      ['two hours', 2 * HOUR_S],
      ['almost a day', DAY_S - 41 * 60],
      ['a day', DAY_S],
    ])('that Stripe ends by itself soon after the link: %s', async (_what, lifeSeconds) => {
      const payment = paymentOf({}, { lifeSeconds });
      await made(payment);
      const lateSeconds =
        server.sessionOf(payment.id).expires_at - Date.parse(payment.expiresAt) / 1000;
      expect(lateSeconds).toBeGreaterThan(-1);
      expect(lateSeconds).toBeLessThanOrEqual(35 * 60);
    });

    it('within Stripe’s limits, even when the clocks differ by minutes', async () => {
      for (const [lifeSeconds, skewMs] of [
        [30 * 60, 4 * 60_000],
        [30 * 60, -4 * 60_000],
        [DAY_S, 4 * 60_000],
        [DAY_S, -4 * 60_000],
        [DAY_S - 40 * 60, 4 * 60_000],
        [DAY_S - 36 * 60, 4 * 60_000],
        [DAY_S - 36 * 60, -4 * 60_000],
      ] as const) {
        await made(paymentOf({}, { lifeSeconds, createdMs: Date.now() + skewMs }));
      }
    });

    it('once, however often it is asked, also minutes later', async () => {
      const payment = paymentOf({}, { lifeSeconds: 30 * 60, createdMs: Date.now() - 4 * 60_000 });
      const answers = [await create(payment)];
      for (let n = 0; n < 3; n += 1)
        answers.push(
          await create({
            ...payment,
            work: { task: 'create', attempts: n + 2, runAt: at(Date.now()) },
          }),
        );
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
      expect(server.sessions).toHaveLength(1);
    });

    it('once, when the answer is lost on the way', async () => {
      const payment = paymentOf();
      server.answerWith(loseAnswer());
      expect(await create(payment)).toMatchObject({
        type: 'created',
        reference: server.sessionOf(payment.id).id,
      });
      server.answerAll(loseAnswer());
      const other = paymentOf();
      expect(await create(other)).toMatchObject({
        type: 'unreachable',
      });
      server.answerAll(null);
      expect(await create(other)).toMatchObject({
        type: 'created',
        reference: server.sessionOf(other.id).id,
      });
      expect(server.sessions).toHaveLength(2);
    });

    it('under another key when Stripe replays a fault of its own under the first', async () => {
      const payment = paymentOf();
      server.answerWith(replayedError());
      expect(await create(payment)).toMatchObject({
        type: 'created',
        reference: server.sessionOf(payment.id).id,
      });
      const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
      expect(keys).toEqual([`payment-page-${payment.id}`, `payment-page-${payment.id}-again`]);
    });

    it('not twice with different data: that is refused, and said', async () => {
      const payment = paymentOf();
      await made(payment);
      const answer = await stripe.create(payment, account(), {
        ...context(),
        pageUrl: 'https://elsewhere.example.com/pay/token',
      });
      expect(answer).toEqual({
        type: 'refused',
        error: expect.stringMatching(/address has changed.*Make a new link/),
      });
      expect(server.sessions).toHaveLength(1);
    });

    it('up to the last minute of the link, where Stripe could not be asked before', async () => {
      const payment = paymentOf({}, { lifeSeconds: 40 * 60, createdMs: Date.now() - 39 * 60_000 });
      await made(payment);
      expect(server.sessionOf(payment.id).status).toBe('open');
    });

    it('not where the clock is wrong by an hour: that is refused, and said', async () => {
      const payment = paymentOf(
        {},
        { lifeSeconds: 40 * 60, createdMs: Date.now() - HOUR_S * 1000 },
      );
      expect(await create(payment)).toEqual({
        type: 'refused',
        error: expect.stringMatching(/Check the clock of the machine/),
      });
    });

    it("or passes on Stripe's own words when Stripe refuses", async () => {
      expect(await create(paymentOf({ amount: 1 }))).toEqual({
        type: 'refused',
        error:
          "Stripe refused: The Checkout Session's total amount must convert to at least 50 cents.",
      });
      expect(await create(paymentOf({ currency: 'kpw' }))).toEqual({
        type: 'refused',
        error: expect.stringMatching(
          /^Stripe refused: Invalid currency: kpw\. Stripe currently supports/,
        ),
      });
    });
  });

  describe('says why Stripe did not do it, without any key', () => {
    const problem = async (
      options: Parameters<typeof context>[0] = {},
      { secret_key = server.secretKey } = {},
    ) => {
      const answer = await stripe.create(
        paymentOf(),
        accountWith({ secret_key, webhook_secret: SECRET }),
        context(options),
      );
      expect(JSON.stringify(answer)).not.toMatch(/[sr]k_(test|live)/);
      return answer;
    };

    it('a wrong key', async () =>
      expect(await problem({}, { secret_key: 'sk_test_wrongwrongwrong' })).toEqual({
        type: 'refused',
        error: expect.stringMatching(/does not accept the secret key.*Developers, API keys/),
      }));

    it('a key without permission', async () => {
      server.answerWith(
        stripeError(403, {
          type: 'invalid_request_error',
          message: `The provided key '${server.secretKey}' (rk_live_51abc) does not have the required permissions for this endpoint.`,
        }),
      );
      expect(await problem()).toEqual({
        type: 'refused',
        error: expect.stringMatching(
          /does not have the required permissions for this endpoint\. A restricted key needs write permission for Checkout Sessions/,
        ),
      });
    });

    it('a long reason is cut, and not within an emoji', async () => {
      const message = `${'x'.repeat(299)}🎂 is no product name.`;
      server.answerWith(stripeError(400, { type: 'invalid_request_error', message }));
      const { error } = (await problem()) as { error: string };
      expect(error).toMatch(/^Stripe refused: x{299}.…$/);
      expect(error.isWellFormed()).toBe(true);
    });

    it.each<[string, ReturnType<typeof hang>, string, RegExp]>([
      [
        'a card error',
        stripeError(402, { type: 'card_error', message: 'No.' }),
        'refused',
        /^Stripe refused: No\.$/,
      ],
      ['an answer that is no JSON', notJson(), 'unreachable', /could not be read/],
      [
        'a redirect',
        (res) => void res.writeHead(307, { location: 'https://elsewhere.example.com/' }).end(),
        'unreachable',
        /could not be read/,
      ],
      ['too many requests', tooManyRequests(), 'unreachable', /no more requests/],
      [
        'a conflict',
        stripeError(409, { message: 'Another request with this Idempotent Key is in progress.' }),
        'unreachable',
        /status 409/,
      ],
      ['500', stripeError(500), 'unreachable', /status 500/],
      ['503', stripeError(503), 'unreachable', /status 503/],
      ['a connection that ends', hangUp(), 'unreachable', /could not be reached/],
    ])('%s', async (_what, script, type, words) => {
      server.answerAll(script);
      expect(await problem()).toEqual({ type, error: expect.stringMatching(words) });
    });

    it('a passing fault is tried again at once', async () => {
      server.answerWith(stripeError(503));
      expect(await problem()).toMatchObject({ type: 'created' });
    });

    it('nobody there', async () => {
      const gone = await startStripeServer();
      const { url } = gone;
      await gone.close();
      expect(await problem({ url })).toEqual({
        type: 'unreachable',
        error: 'Stripe could not be reached (ECONNREFUSED).',
      });
    });

    it('no answer in time, retries included', async () => {
      server.answerAll(hang());
      expect(await problem({ timeoutMs: 300 })).toEqual({
        type: 'unreachable',
        error: 'Stripe did not answer within 0.3 s.',
      });
      expect(server.requests.length).toBeLessThanOrEqual(1);
    });

    it('gives up when told to, and lets go of the connection', async () => {
      server.answerAll(hang());
      const stopping = new AbortController();
      const asked = create(paymentOf(), { signal: stopping.signal });
      await waitFor('the request', () => server.requests.length === 1);
      stopping.abort(new Error('the service stops'));
      await expect(asked).rejects.toThrow('the service stops');
      await waitFor('the connection to end', () => server.openSockets === 0);
    });
  });

  describe('tells how a payment stands', () => {
    const check = (payment: Payment) => stripe.check(payment, account(), context());
    const expire = (payment: Payment) => stripe.expire(payment, account(), context());

    it('open, then paid', async () => {
      const payment = await made(paymentOf());
      expect(await check(payment)).toEqual({ type: 'open' });
      await server.pay(payment.providerReference!);
      expect(await check(payment)).toEqual({ type: 'paid' });
    });

    it('by bank debit: confirming until the bank has answered', async () => {
      const payment = await made(paymentOf());
      await server.pay(payment.providerReference!, { async: true });
      expect(await check(payment)).toEqual({ type: 'confirming' });
      expect(await expire(payment)).toEqual({ type: 'confirming' });
      await server.settle(payment.providerReference!, 'succeeded');
      expect(await check(payment)).toEqual({ type: 'paid' });
    });

    it('expired by time, or when told to, once and again', async () => {
      const payment = await made(paymentOf());
      expect(await expire(payment)).toEqual({ type: 'expired' });
      expect(server.sessionOf(payment.id).url).toBeNull();
      expect(await expire(payment)).toEqual({ type: 'expired' });
      expect(await check(payment)).toEqual({ type: 'expired' });
    });

    it('paid, when the customer pays before the page is closed', async () => {
      const payment = await made(paymentOf());
      await server.pay(payment.providerReference!);
      expect(await expire(payment)).toEqual({ type: 'paid' });
    });

    it('refused for a session that the account does not have; unreachable when Stripe fails', async () => {
      const payment = { ...(await made(paymentOf())), providerReference: 'cs_test_gone' };
      expect(await check(payment)).toEqual({
        type: 'refused',
        error: 'Stripe refused: No such checkout.session: cs_test_gone.',
      });
      server.answerAll(stripeError(500));
      expect(await check(payment)).toMatchObject({ type: 'unreachable' });
      expect(await expire(payment)).toMatchObject({ type: 'unreachable' });
    });
  });

  describe('tests the keys', () => {
    const test = (values: Record<string, string>, url = server.url) =>
      stripe.test(accountWith(values), context({ url }));

    it('in test mode and in live mode', async () => {
      expect(await test({ secret_key: server.secretKey, webhook_secret: SECRET })).toEqual({
        ok: true,
        message: 'Stripe accepts the key, in test mode: no real money moves.',
      });
      const live = await startStripeServer({ secretKey: 'rk_live_51LiveKeyOfNobody0000' });
      const keys = { secret_key: live.secretKey, webhook_secret: SECRET };
      expect(await test(keys, live.url)).toEqual({
        ok: true,
        message: 'Stripe accepts the key, in live mode.',
      });
      expect(live.sessions).toEqual([]);
      await live.close();
    });

    it('says what is missing', async () =>
      expect((await test({ secret_key: server.secretKey })).message).toMatch(
        /Without the signing secret of the webhook/,
      ));

    it('says what is wrong', async () =>
      expect(await test({ secret_key: 'sk_live_wrongwrong' })).toEqual({
        ok: false,
        message: expect.stringMatching(/does not accept the secret key/),
      }));
  });
});
