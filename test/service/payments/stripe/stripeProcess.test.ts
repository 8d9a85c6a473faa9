import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startEventReceiver, type EventReceiver } from '../../../helpers/eventReceiver.ts';
import { fileSizes } from '../../../helpers/folderFiles.ts';
import { onEmbeddedStore } from '../../../helpers/onEmbeddedStore.ts';
import { startServiceProcess, type ServiceProcess } from '../../../helpers/serviceProcess.ts';
import { startStripeServer, type StripeServer } from '../../../helpers/stripeServer.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../../../helpers/tls.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import { makeLink, newConversation, readLink } from '../support.ts';
import { deliver, delivered, setUpStripe, WEBHOOK_SECRET } from './stripeSupport.ts';

/** Where a process's files can be kept from growing, and it has some. */
const onLinux = process.platform === 'linux' ? onEmbeddedStore(it) : it.skip;

const largestFile = async (folder: string): Promise<number> =>
  Math.max(...(await fileSizes(folder)));

describe('Stripe and a real process', () => {
  let server: StripeServer;
  let receiver: EventReceiver;
  let service: ServiceProcess;
  let webhookUrl: string;
  let tls: TlsFiles;
  beforeEach(async () => {
    tls = await writeTlsFiles(await sharedTestCa());
    server = await startStripeServer();
    receiver = await startEventReceiver();
    service = await startServiceProcess({
      caFile: tls.caFile,
      env: { STRIPE_API_URL: server.url },
    });
    webhookUrl = await setUpStripe(service, server);
    await service.api.post('/api/hooks', {
      event: 'payment.paid',
      target_url: `${receiver.url}/events`,
      source: 'test',
    });
  });
  afterEach(async () => {
    await service?.close();
    await receiver?.close();
    await server?.close();
    await tls?.remove();
  });

  const paidEventIds = () => new Set(receiver.payloads('payment.paid').map(({ id }) => id));

  it('killed after each 200 to a webhook: every payment that was acknowledged is paid, once', async () => {
    const conversationId = await newConversation(service);
    for (let n = 1; n <= 3; n += 1) {
      const { id } = await makeLink(service, conversationId, { description: `Demo ${n}` });
      const session = server.sessionOf(id).id;
      await server.pay(session);
      const webhook = server.webhook(session, 'checkout.session.completed', WEBHOOK_SECRET);
      expect((await deliver(webhookUrl, webhook)).status).toBe(200);
      await service.crashAndRestart();
      expect(await readLink(service, id)).toMatchObject({ status: 'paid' });
      expect((await deliver(webhookUrl, webhook)).status).toBe(200);
      await waitFor(`event ${n}`, () => paidEventIds().size === n);
    }
    expect(paidEventIds().size).toBe(3);
  });

  onLinux(
    'that cannot write says 503 to a webhook, and takes it when Stripe repeats itself',
    async () => {
      const { id } = await makeLink(service, await newConversation(service));
      const session = server.sessionOf(id).id;
      await server.pay(session);
      const webhook = server.webhook(session, 'checkout.session.completed', WEBHOOK_SECRET);
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
      await receiver.payload('payment.paid');
    },
  );
});
