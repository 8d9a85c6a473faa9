// Choices of a question on WhatsApp: the customer presses a button, and the execution goes on with it.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGraphServer, type GraphServer } from '../../helpers/graphServer.ts';
import { metaMessage } from '../../helpers/meta.ts';
import { startExecutionHost, type ExecutionHost } from '../../helpers/restingExecution.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { connectWhatsApp, type WhatsAppAccount } from '../channels/whatsapp/whatsappTalk.ts';
import { askCustomer, goesOn, waitOf } from './support.ts';

const DAYS = ['Tuesday', 'Thursday'];
const MANY_DAYS = [...DAYS, 'Saturday', 'Sunday'];

describe('a question with choices on WhatsApp', () => {
  let service: TestService;
  let graph: GraphServer;
  let n8n: ExecutionHost;
  let account: WhatsAppAccount;

  beforeAll(async () => {
    graph = await startGraphServer();
    n8n = await startExecutionHost(() => service.api);
    service = await startTestService({
      ca: n8n.ca,
      env: { GRAPH_API_URL: graph.url, AGENT_QUIET_MS: '30' },
    });
    account = await connectWhatsApp(service, graph);
  });
  afterAll(async () => {
    await service?.stop();
    await n8n?.close();
    await graph?.close();
  });

  it.each([
    ['button_reply', '5491155550001', DAYS],
    ['list_reply', '5491155550002', MANY_DAYS],
  ])('is answered by a %s', async (type, phone, choices) => {
    const { conversationId } = await account.customer(phone);
    const execution = n8n.execution();
    const before = graph.requests.length;
    const wait = await askCustomer(service, { conversationId }, execution, {
      message: 'When shall we come?',
      accept: { type: 'choice', choices },
    });
    const sent = await waitFor('the question to be sent', () => graph.requests[before]);
    for (const day of choices) expect(JSON.stringify(sent)).toContain(day);
    const reply = { [type]: { id: '2', title: 'Thursday' } };
    const pressed = { type: 'interactive', interactive: { type, ...reply } };
    await account.deliver(metaMessage(pressed, { phone }));
    expect((await goesOn(execution)).answer).toMatchObject({ value: 'Thursday', text: 'Thursday' });
    expect((await waitOf(service, wait)).status).toBe('answered');
    expect(graph.faults).toEqual([]);
  });
});
