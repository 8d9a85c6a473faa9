import { describe, expect, it } from '@jest/globals';
import { Stripe } from 'stripe';
import { stripe } from '../../../../service/src/payments/stripe/stripe.ts';
import {
  signWebhook,
  type StripeServer,
  type StripeWebhook,
} from '../../../helpers/stripeServer.ts';
import { accountWith, made, paymentOf, SECRET, server, useStripeServer } from './adapterStage.ts';

describe('the Stripe adapter', () => {
  useStripeServer();

  describe('reads webhooks', () => {
    const COMPLETED = 'checkout.session.completed';
    const read = (
      { headers, body }: StripeWebhook,
      values: Record<string, string> = { webhook_secret: SECRET },
    ) => stripe.readWebhook({ rawBody: Buffer.from(body), headers }, accountWith(values));

    it("signed by Stripe's own package as well as by hand", async () => {
      const payload = JSON.stringify({
        id: 'evt_1',
        object: 'event',
        type: 'charge.succeeded',
        data: { object: {} },
      });
      const timestamp = Math.floor(Date.now() / 1000);
      const signing = { payload, secret: SECRET, timestamp };
      const byPackage = Stripe.webhooks.generateTestHeaderString(signing);
      const { headers } = signWebhook(payload, SECRET, new Date(timestamp * 1000));
      expect(headers['stripe-signature']).toBe(byPackage);
      expect(await read({ headers: { 'stripe-signature': byPackage }, body: payload })).toEqual([]);
    });

    it('of which each says how the payment stands', async () => {
      const payment = await made(paymentOf());
      const reference = payment.providerReference!;
      const expectState = async (type: Parameters<StripeServer['webhook']>[1], state: string) =>
        expect(await read(server.webhook(reference, type, SECRET))).toEqual([
          { paymentId: payment.id, reference, state },
        ]);
      await expectState('checkout.session.expired', 'expired');
      await server.pay(reference, { async: true });
      await expectState(COMPLETED, 'confirming');
      await expectState('checkout.session.async_payment_failed', 'failed');
      await server.settle(reference, 'succeeded');
      await expectState(COMPLETED, 'paid');
      await expectState('checkout.session.async_payment_succeeded', 'paid');
    });

    it('and finds nothing in those about no payment of ours', async () => {
      const { providerReference } = await made(paymentOf());
      for (const metadata of [{}, null, { order: '7' }]) {
        const webhook = server.webhook(providerReference!, COMPLETED, SECRET, {
          data: { metadata },
        });
        expect(await read(webhook)).toEqual([]);
      }
    });

    it.each<[string, (valid: StripeWebhook) => StripeWebhook]>([
      ['signed with another secret', ({ body }) => signWebhook(body, 'whsec_another', new Date())],
      [
        'six minutes old',
        ({ body }) => signWebhook(body, SECRET, new Date(Date.now() - 6 * 60_000)),
      ],
      ['with another body', ({ headers, body }) => ({ headers, body: `${body} ` })],
      ['without a signature', ({ body }) => ({ headers: {}, body })],
      ['with an empty body', () => signWebhook('', SECRET, new Date())],
      ['that is no JSON', () => signWebhook('hello', SECRET, new Date())],
      ['that is JSON and no event', () => signWebhook('null', SECRET, new Date())],
    ])('not one %s', async (_what, change) => {
      const { providerReference } = await made(paymentOf());
      const valid = server.webhook(providerReference!, COMPLETED, SECRET);
      expect(await read(change(valid))).toBeNull();
    });

    it('none without a signing secret', async () => {
      const { providerReference } = await made(paymentOf());
      const unsigned = server.webhook(providerReference!, COMPLETED, '');
      expect(await read(unsigned, {})).toBeNull();
      expect(await read(unsigned, { webhook_secret: '' })).toBeNull();
    });
  });
});
