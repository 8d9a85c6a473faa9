// Texts to WhatsApp that are written while others are under way: none is left without its job, each comes once.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGraphServer, type GraphServer } from '../../helpers/graphServer.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { connectWhatsApp, type WhatsAppAccount } from '../channels/whatsappTalk.ts';
import { atOnce, rounds, sides } from './sides.ts';

describe('texts to one WhatsApp customer', () => {
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

  it('are all sent, each once, however they meet the end of the one before and its receipt', async () => {
    const customers = await atOnce(1, () => account.customer('14155553001'));
    const [customer] = customers;
    const told = new Set<string>();
    const texts = rounds(30).map((n) => `text ${n}`);
    for (const text of texts) {
      expect((await customer!.reply(text)).status).toBe(201);
      // Receipts come while the next text is written.
      for (const taken of graph.taken.filter(({ id }) => !told.has(id)).slice(0, 1)) {
        told.add(taken.id);
        void account.tell(taken, 'delivered').catch(() => told.delete(taken.id));
      }
    }
    await waitFor('all texts', async () => (await customer!.deliveries()).every(({ state }) => state !== 'pending'), { timeoutMs: 20_000 });
    expect(graph.requests.map(({ body }) => body.text.body)).toEqual(texts);
    expect(graph.faults).toEqual([]);
  });
});
