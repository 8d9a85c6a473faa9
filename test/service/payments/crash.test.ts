import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startServiceProcess, type ServiceProcess } from '../../helpers/serviceProcess.ts';
import { startStripeServer, type StripeServer } from '../../helpers/stripeServer.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { LINK, linkIn, makeLink, newConversation, pageOf, readLink } from './support.ts';

describe('payment links over a kill -9', () => {
  let service: ServiceProcess;
  let stripe: StripeServer;
  beforeEach(async () => {
    stripe = await startStripeServer();
    service = await startServiceProcess({ env: { STRIPE_API_URL: stripe.url } });
    await service.api.call('PUT', '/api/payment-accounts/stripe', {
      settings: { secret_key: stripe.secretKey },
    });
  });
  afterEach(async () => {
    await service?.close();
    await stripe?.close();
  });

  it.each([
    ['before the provider has begun', false],
    ['after the provider has made its page', true],
  ])(
    'has one page at the provider after a crash %s',
    async (_when, isMade) => {
      const conversationId = await newConversation(service);
      let asked = 0;
      stripe.answerAll((_response, _request, proceed) => {
        if (isMade) proceed(); // and no answer ever comes
        asked++;
      });
      const key = { 'idempotency-key': 'crash' };
      const create = () =>
        service.api.post(`/api/conversations/${conversationId}/payment-links`, LINK, key);
      const cutOff = create().then(
        () => 'answered',
        () => 'cut off',
      );
      await waitFor('the provider to be asked', () => asked > 0);
      const [{ id }] = (await service.api.get('/api/payment-links')).body.data;
      stripe.answerAll(null); // what was asked before stays without an answer
      await service.crashAndRestart();
      expect(await cutOff).toBe('cut off');

      const again = await create();
      expect(again).toMatchObject({
        status: 201,
        body: { id, status: 'open', provider_reference: stripe.sessionOf(id).id },
      });
      expect(stripe.sessions).toHaveLength(1);
      expect((await service.api.get('/api/payment-links')).body.data).toHaveLength(1);
      const response = await fetch(pageOf(service, again.body), { redirect: 'manual' });
      expect(response.headers.get('location')).toBe(stripe.sessionOf(id).url);
    },
    60_000,
  );

  it('asks anew whether it was paid, and has a cancelled page closed', async () => {
    const conversationId = await newConversation(service);
    const [paid, cancelled] = [
      await makeLink(service, conversationId),
      await makeLink(service, conversationId),
    ];
    await stripe.pay(stripe.sessionOf(paid.id).id);
    let asked = 0;
    stripe.answerAll(() => void asked++);
    await fetch(pageOf(service, paid, '?from=provider'));
    await service.api.post(`/api/payment-links/${cancelled.id}/cancel`);
    await waitFor('the provider to be asked of both', () => asked >= 2);
    expect([
      stripe.sessionOf(cancelled.id).status,
      (await readLink(service, paid.id)).status,
    ]).toEqual(['open', 'open']);
    stripe.answerAll(null);
    await service.crashAndRestart();
    await linkIn(service, paid.id, 'paid');
    await waitFor(
      'the session to be expired',
      () => stripe.sessionOf(cancelled.id).status === 'expired',
    );
  }, 60_000);
});
