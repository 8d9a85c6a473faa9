// Choices of a question on WhatsApp: the customer presses a button, and the execution goes on with it.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGraphServer, type GraphServer } from '../../helpers/graphServer.ts';
import { metaMessage, metaText } from '../../helpers/meta.ts';
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

  const DELIVERIES = [
    'Standard delivery (3 days)',
    'Express delivery (1 day)',
    'Collect it from our shop',
  ];
  const ROOMS = ['Room 2 with one large double bed', 'Room 1 with two beds', 'Neither of them'];
  const STAYS = ['2 nights with breakfast in bed', '3 nights with breakfast', '5 nights'];

  it.each([
    ['numbered lines', '5491155550003', DELIVERIES, '\n3. Collect it', '3', DELIVERIES[2]],
    ['lines that keep their own numbers', '5491155550004', STAYS, '\n- 3 nights', '3', STAYS[1]],
    [
      'lines without the number of another',
      '5491155550005',
      ROOMS,
      '\n- Room 1',
      'option 2',
      ROOMS[1],
    ],
  ])('too long for buttons is sent as %s', async (_as, phone, choices, line, text, value) => {
    const { conversationId } = await account.customer(phone);
    const execution = stage.n8n.execution();
    const before = graph.requests.length;
    await askCustomer(stage, { conversationId }, execution, {
      message: 'Which one?',
      accept: { type: 'choice', choices },
    });
    const sent = await waitFor('the question to be sent', () => graph.requests[before]);
    expect(JSON.stringify(sent)).toContain(JSON.stringify(line).slice(1, -1));
    await account.deliver(metaText(text, { phone }));
    expect((await goesOn(execution)).answer).toMatchObject({ value, text });
  });
});
