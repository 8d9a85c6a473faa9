import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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
  linkIn,
  linksOf,
  makeLink,
  newConversation,
  pageOf,
  readLink,
  requestLink,
} from './support.ts';

/** Only where the size of a process's files can be limited, and where the store is in files. */
const onLinuxWithFiles = process.platform === 'linux' ? onEmbeddedStore(it) : it.skip;

const largestFile = async (folder: string) => Math.max(...(await fileSizes(folder)));

describe('payments and a real process', () => {
  let tls: TlsFiles;
  let receiver: EventReceiver;
  let service: ServiceProcess;
  let stripe: StripeServer;
  let webhookUrl: string;
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
  const paidLink = async () => {
    const { id } = await makeLink(service, await newConversation(service));
    const session = stripe.sessionOf(id).id;
    await stripe.pay(session);
    return { id, webhook: stripe.webhook(session, 'checkout.session.completed', WEBHOOK_SECRET) };
  };

  onLinuxWithFiles(
    'that cannot write: it answers a webhook with 503, and takes it when Stripe sends it again',
    async () => {
      const { id, webhook } = await paidLink();
      const limit = (size: string | number) =>
        promisify(execFile)('prlimit', ['--pid', String(service.pid), `--fsize=${size}:unlimited`]);
      // the log is smaller than this limit, so it can still grow
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

  describe('after a crash', () => {
    let killed: Awaited<ReturnType<typeof killDuringPayments>>;
    beforeAll(async () => {
      killed = await killDuringPayments();
    });

    /** Makes payments in each state in which the process may die, and kills it. */
    async function killDuringPayments() {
      const paid = await makeLink(service, await newConversation(service));
      const cancelled = await makeLink(service, await newConversation(service));
      await stripe.pay(stripe.sessionOf(paid.id).id);
      const paidByWebhook = await paidLink();
      const sessions = stripe.sessions.length;
      const creations = {
        notBegun: await cutOffCreation({ isMade: false }),
        made: await cutOffCreation({ isMade: true }),
      };
      const requests = stripe.requests.length;
      stripe.answerAll(() => {});
      await fetch(pageOf(service, paid, '?from=provider'));
      await service.api.post(`/api/payment-links/${cancelled.id}/cancel`);
      await waitFor('the provider to be asked of both', () =>
        [paid, cancelled].every((link) =>
          stripe.requests
            .slice(requests)
            .some(({ path }) => path.includes(stripe.sessionOf(link.id).id)),
        ),
      );
      expect([
        stripe.sessionOf(cancelled.id).status,
        (await readLink(service, paid.id)).status,
      ]).toEqual(['open', 'open']);
      expect((await deliver(webhookUrl, paidByWebhook.webhook)).status).toBe(200);
      stripe.answerAll(null); // what was asked before stays without an answer
      await service.crashAndStartHere();
      return { paid, cancelled, paidByWebhook, creations, sessions };
    }

    /** Asks for a link, and never gets it. */
    async function cutOffCreation({ isMade }: { isMade: boolean }) {
      const conversation = await newConversation(service);
      let asked = 0;
      stripe.answerAll((_response, _request, proceed) => {
        if (isMade) proceed(); // and no answer ever comes
        asked++;
      });
      const key = { 'idempotency-key': `crash-${conversation}` };
      const create = () => requestLink(service, conversation, {}, key);
      const cutOff = create().then(
        () => 'answered',
        () => 'cut off',
      );
      await waitFor('the provider to be asked', () => asked > 0);
      const [{ id }] = await linksOf(service, conversation);
      return { conversation, id, create, cutOff };
    }

    it.each([
      ['before the provider has begun', 'notBegun'],
      ['after the provider has made its page', 'made'],
    ] as const)('%s, a link has one page at the provider', async (_when, which) => {
      const { conversation, id, create, cutOff } = killed.creations[which];
      expect(await cutOff).toBe('cut off');
      const again = await create();
      const { id: session, url } = stripe.sessionOf(id);
      expect(again).toMatchObject({
        status: 201,
        body: { id, status: 'open', provider_reference: session },
      });
      expect(await linksOf(service, conversation)).toHaveLength(1);
      const response = await fetch(pageOf(service, again.body), { redirect: 'manual' });
      expect(response.headers.get('location')).toBe(url);
    });

    it('the provider has no page that belongs to no link', () => {
      expect(stripe.sessions).toHaveLength(killed.sessions + 2);
    });

    it('the service asks again whether a link was paid, and has a cancelled page closed', async () => {
      await linkIn(service, killed.paid.id, 'paid');
      await waitFor(
        'the session to be expired',
        () => stripe.sessionOf(killed.cancelled.id).status === 'expired',
      );
    });

    it('right after the 200 to a webhook, the payment is paid, once', async () => {
      const { id, webhook } = killed.paidByWebhook;
      expect(await readLink(service, id)).toMatchObject({ status: 'paid' });
      expect((await deliver(webhookUrl, webhook)).status).toBe(200);
      await allDelivered(service);
      expect(paidEventIds(id).size).toBe(1);
    });
  });
});
