// Texts to WhatsApp that are written at the moment when the job of the previous text ends: none is
// left without a job, and each is sent once.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  accept,
  startGraphServer,
  type GraphServer,
  type TakenMessage,
} from '../../helpers/graphServer.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  connectWhatsApp,
  type Customer,
  type WhatsAppAccount,
} from '../channels/whatsapp/whatsappTalk.ts';
import { sides, upTo } from './sides.ts';

const TEXTS = 15;

describe('texts to WhatsApp customers', () => {
  let graph: GraphServer;
  let account: WhatsAppAccount;
  beforeAll(async () => {
    graph = await startGraphServer();
  });
  const service = sides({ env: () => ({ GRAPH_API_URL: graph.url }) });
  beforeAll(async () => {
    await service.api.patch('/api/agent', { enabled: false });
    account = await connectWhatsApp(service, graph);
  });
  afterAll(() => graph?.close());

  it('are all sent, each once and in order, even when one is written while the previous one is being sent', async () => {
    const customers = new Map<string, Customer>();
    for (const n of upTo(6))
      customers.set(`1415555300${n}`, await account.customer(`1415555300${n}`));
    const written = new Map<string, number>();
    const writeNext = async (phone: string) => {
      const n = (written.get(phone) ?? 0) + 1;
      if (n > TEXTS) return;
      written.set(phone, n);
      expect((await customers.get(phone)!.reply(`text ${n}`)).status).toBe(201);
    };
    // The answer, its receipt and the next text come at the same time.
    graph.answerBy(({ body }) => (res, take, request) => {
      const phone = body.to!;
      let taken: TakenMessage | undefined;
      accept(res, () => (taken = take()), request);
      if (written.get(phone)! % 2 === 0) void account.tell(taken!, 'delivered');
      setTimeout(() => void writeNext(phone), written.get(phone)! % 4);
    });
    await Promise.all([...customers.keys()].map(writeNext));
    const textsTo = (phone: string) =>
      graph.requests.filter(({ body }) => body.to === phone).map(({ body }) => body.text.body);
    for (const phone of customers.keys()) {
      await waitFor(`all texts to ${phone}`, () => textsTo(phone).length >= TEXTS, {
        timeoutMs: 30_000,
      });
      await waitFor('none to be pending', async () =>
        (await customers.get(phone)!.deliveries()).every(({ state }) => state !== 'pending'),
      );
      expect(textsTo(phone)).toEqual(upTo(TEXTS).map((n) => `text ${n + 1}`));
    }
    expect(graph.faults).toEqual([]);
  });
});
