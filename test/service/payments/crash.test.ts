import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { fileSizes } from '../../helpers/folderFiles.ts';
import { onEmbeddedStore } from '../../helpers/onEmbeddedStore.ts';
import { startServiceProcess, type ServiceProcess } from '../../helpers/serviceProcess.ts';
import { startStripeServer, type StripeServer } from '../../helpers/stripeServer.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { deliver, delivered, setUpStripe, WEBHOOK_SECRET } from './stripe/stripeSupport.ts';
import {
  allDelivered,
  LINK,
  linkIn,
  makeLink,
  newConversation,
  pageOf,
  readLink,
} from './support.ts';

/** Where a process's files can be kept from growing, and it has some. */
const onLinux = process.platform === 'linux' ? onEmbeddedStore(it) : it.skip;

const largestFile = async (folder: string): Promise<number> =>
  Math.max(...(await fileSizes(folder)));

describe('payments and a real process', () => {
  let tls: TlsFiles;
  let receiver: EventReceiver;
  let service: ServiceProcess;
  let stripe: StripeServer;
  let webhookUrl: string;
  let conversationId: string;
  beforeAll(async () => {
    tls = await writeTlsFiles(await sharedTestCa());
    stripe = await startStripeServer();
    receiver = await startEventReceiver();
    service = await startServiceProcess({
      caFile: tls.caFile,
      env: { STRIPE_API_URL: stripe.url },
    });
    webhookUrl = await setUpStripe(service, stripe);
    await service.api.post('/api/hooks', {
      event: 'payment.paid',
      target_url: `${receiver.url}/events`,
      source: 'test',
    });
  });
  beforeEach(async () => {
    stripe.answerAll(null);
    conversationId = await newConversation(service);
  });
  afterAll(async () => {
    await service?.close();
    await receiver?.close();
    await stripe?.close();
    await tls?.remove();
  });

  const paidEventIds = (paymentId: string) =>
    new Set(
      receiver
        .payloads('payment.paid')
        .filter(({ payment }) => payment.id === paymentId)
        .map(({ id }) => id),
    );
  const linksOf = async () =>
    (await service.api.get(`/api/payment-links?conversation_id=${conversationId}`)).body.data;
  const paidLink = async () => {
    const { id } = await makeLink(service, conversationId);
    const session = stripe.sessionOf(id).id;
    await stripe.pay(session);
    return { id, webhook: stripe.webhook(session, 'checkout.session.completed', WEBHOOK_SECRET) };
  };

  it.each([
    ['before the provider has begun', false],
    ['after the provider has made its page', true],
  ])('a link has one page at the provider after a crash %s', async (_when, isMade) => {
    const before = stripe.sessions.length;
    let asked = 0;
    stripe.answerAll((_response, _request, proceed) => {
      if (isMade) proceed(); // and no answer ever comes
      asked++;
    });
    const key = { 'idempotency-key': `crash-${conversationId}` };
    const create = () =>
      service.api.post(`/api/conversations/${conversationId}/payment-links`, LINK, key);
    const cutOff = create().then(
      () => 'answered',
      () => 'cut off',
    );
    await waitFor('the provider to be asked', () => asked > 0);
    const [{ id }] = await linksOf();
    stripe.answerAll(null); // what was asked before stays without an answer
    await service.crashAndRestart();
    expect(await cutOff).toBe('cut off');

    const again = await create();
    const { id: session, url } = stripe.sessionOf(id);
    expect(stripe.sessions).toHaveLength(before + 1);
    expect(again).toMatchObject({
      status: 201,
      body: { id, status: 'open', provider_reference: session },
    });
    expect(await linksOf()).toHaveLength(1);
    const response = await fetch(pageOf(service, again.body), { redirect: 'manual' });
    expect(response.headers.get('location')).toBe(url);
  });

  it('after a crash asks anew whether a link was paid, and has a cancelled page closed', async () => {
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
  });

  it('killed after the 200 to a webhook: the payment is paid, once', async () => {
    const { id, webhook } = await paidLink();
    expect((await deliver(webhookUrl, webhook)).status).toBe(200);
    await service.crashAndRestart();
    expect(await readLink(service, id)).toMatchObject({ status: 'paid' });
    expect((await deliver(webhookUrl, webhook)).status).toBe(200);
    await allDelivered(service);
    expect(paidEventIds(id).size).toBe(1);
  });

  onLinux(
    'that cannot write says 503 to a webhook, and takes it when Stripe repeats itself',
    async () => {
      const { id, webhook } = await paidLink();
      const limit = (size: string | number) =>
        promisify(execFile)('prlimit', ['--pid', String(service.pid), `--fsize=${size}:unlimited`]);
      // the log is smaller, and goes on
      await limit(await largestFile(join(dirname(service.logFile), 'data')));
      expect(await delivered(webhookUrl, webhook)).toMatchObject({
        status: 503,
        body: { error: { code: 'unavailable' } },
      });
      await limit('unlimited');
      await waitFor(
        'the webhook to be taken',
        async () => (await deliver(webhookUrl, webhook)).status === 200,
      );
      expect(await readLink(service, id)).toMatchObject({ status: 'paid' });
      await waitFor('the event', () => paidEventIds(id).size === 1);
    },
  );
});
