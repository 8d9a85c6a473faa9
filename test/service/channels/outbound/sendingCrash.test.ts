// The built service as a real process that is killed while texts are on their way to WhatsApp.
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  hang,
  startGraphServer,
  takeAndHang,
  tooMany,
  type GraphServer,
} from '../../../helpers/graphServer.ts';
import { startServiceProcess, type ServiceProcess } from '../../../helpers/serviceProcess.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import { APP_SECRET, connectWhatsApp, type WhatsAppAccount } from '../whatsapp/whatsappTalk.ts';

/** How long a receipt is waited for: Sender, GRACE_MS. */
const GRACE_MS = 15_000;

describe('texts to WhatsApp in a process that is killed', () => {
  let graph: GraphServer;
  let service: ServiceProcess;
  let account: WhatsAppAccount;
  beforeAll(async () => {
    graph = await startGraphServer();
    service = await startServiceProcess({
      env: {
        GRAPH_API_URL: graph.url,
        CHANNEL_RETRY_DELAYS_MS: '100,100,100,100',
        LOG_LEVEL: 'debug',
      },
    });
    await service.api.patch('/api/agent', { enabled: false });
    account = await connectWhatsApp(service, graph);
  });
  afterEach(() => expect(graph.faults).toEqual([]));
  afterAll(async () => {
    await service?.close();
    await graph?.close();
  });

  const requestsTo = (phone: string) => graph.requests.filter(({ body }) => body.to === phone);
  const textsTo = (phone: string) => requestsTo(phone).map(({ body }) => body.text.body);
  const [known, unknown, lost, waiting] = [
    '14155552101',
    '14155552102',
    '14155552103',
    '14155552104',
  ] as const;

  it('sends what was taken not again once its receipt is there, and all else again after the grace, each in order', async () => {
    const customers = {
      known: await account.customer(known),
      unknown: await account.customer(unknown),
      lost: await account.customer(lost),
      waiting: await account.customer(waiting),
    };
    // One after the other, so that each gets its own answer.
    for (const [name, reply] of [
      ['known', takeAndHang],
      ['unknown', takeAndHang],
      ['lost', hang],
      ['waiting', tooMany('3')],
    ] as const) {
      const requests = graph.requests.length;
      graph.answerWith(reply);
      expect((await customers[name].reply('one')).status).toBe(201);
      await waitFor('the request', () => graph.requests.length === requests + 1);
      expect((await customers[name].reply('two')).status).toBe(201);
    }
    await waitFor('the refusal to be on record', async () =>
      (await readFile(service.logFile, 'utf8')).includes('130429'),
    );
    const killedAt = Date.now();
    await service.crashAndRestart();
    const restartedAt = Date.now();

    await account.tell(graph.taken.find(({ body }) => body.to === known)!, 'delivered');
    await customers.known.delivery(2, 'sent');
    expect(Date.now() - restartedAt).toBeLessThan(GRACE_MS);
    expect((await customers.known.deliveries()).map(({ state }) => state)).toEqual([
      'delivered',
      'sent',
    ]);
    await customers.waiting.delivery(2, 'sent');
    expect(textsTo(waiting)).toEqual(['one', 'one', 'two']);
    expect(requestsTo(waiting)[1]!.at - requestsTo(waiting)[0]!.at).toBeGreaterThanOrEqual(2950);

    await Promise.all(
      [customers.unknown, customers.lost].map((customer) =>
        waitFor(
          'the text after it',
          async () => (await customer.deliveries())[1]?.state === 'sent',
          { timeoutMs: 2 * GRACE_MS },
        ),
      ),
    );
    for (const phone of [unknown, lost]) {
      expect(textsTo(phone)).toEqual(['one', 'one', 'two']);
      expect(requestsTo(phone)[1]!.at - killedAt).toBeGreaterThanOrEqual(GRACE_MS);
    }
    expect(textsTo(known)).toEqual(['one', 'two']);
  }, 90_000);

  it('writes neither tokens nor phone numbers nor texts into the log', async () => {
    const customer = await account.customer('14155552199');
    await customer.reply('Between you and me');
    await customer.delivery(1, 'sent');
    const log = await readFile(service.logFile, 'utf8');
    expect(log).toContain('"outbound_message":"out_');
    for (const secret of [graph.accessToken, APP_SECRET, '1415555', 'Between you', 'Sheena'])
      expect(log).not.toContain(secret);
  });
});
