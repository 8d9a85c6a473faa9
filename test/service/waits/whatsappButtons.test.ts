// Choices of a question on WhatsApp: the customer presses a button, and the execution goes on with it.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGraphServer, type GraphServer } from '../../helpers/graphServer.ts';
import { metaMessage } from '../../helpers/meta.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { connectWhatsApp, type WhatsAppAccount } from '../channels/whatsapp/whatsappTalk.ts';
import { askCustomer, goesOn, startWaitStage, waitOf, type WaitStage } from './support.ts';

const DAYS = ['Tuesday', 'Thursday'];
const MANY_DAYS = [...DAYS, 'Saturday', 'Sunday'];

describe('a question with choices on WhatsApp', () => {
  let stage: WaitStage;
  let graph: GraphServer;
  let account: WhatsAppAccount;

  beforeAll(async () => {
    graph = await startGraphServer();
    stage = await startWaitStage({ env: { GRAPH_API_URL: graph.url, AGENT_QUIET_MS: '30' } });
    account = await connectWhatsApp(stage, graph);
  });
  afterAll(async () => {
    await stage?.close();
    await graph?.close();
  });

  it.each([
    ['button_reply', '5491155550001', DAYS],
    ['list_reply', '5491155550002', MANY_DAYS],
  ])('is answered by a %s', async (type, phone, choices) => {
    const { conversationId } = await account.customer(phone);
    const execution = stage.n8n.execution();
    const before = graph.requests.length;
    const wait = await askCustomer(stage, { conversationId }, execution, {
      message: 'When shall we come?',
      accept: { type: 'choice', choices },
    });
    const sent = await waitFor('the question to be sent', () => graph.requests[before]);
    for (const day of choices) expect(JSON.stringify(sent)).toContain(day);
    const reply = { [type]: { id: '2', title: 'Thursday' } };
    const pressed = { type: 'interactive', interactive: { type, ...reply } };
    await account.deliver(metaMessage(pressed, { phone }));
    expect((await goesOn(execution)).answer).toMatchObject({ value: 'Thursday', text: 'Thursday' });
    expect((await waitOf(stage, wait)).status).toBe('answered');
    expect(graph.faults).toEqual([]);
  });
});
