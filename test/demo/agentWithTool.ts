// The agent uses a tool that calls a shop's system: from the tool's definition to an approved call.
import { chatCustomer } from '../helpers/apiClient.ts';
import { signatureFault } from '../helpers/eventReceiver.ts';
import type { ServiceProcess } from '../helpers/serviceProcess.ts';
import { startTlsReceiver, type ReceivedRequest } from '../helpers/tls.ts';
import { agentSays } from '../helpers/toolEndpoint.ts';
import { check, quote, step } from './terminal.ts';

/** The body of a request to a tool's endpoint. */
interface ToolRequest {
  readonly tool_call_id: string;
  readonly tool: string;
  readonly arguments: { readonly order_number: string };
  readonly conversation_id: string;
}

const toolRequestOf = ({ rawBody }: ReceivedRequest) =>
  JSON.parse(rawBody.toString('utf8')) as ToolRequest;

const FIND_ORDER = {
  name: 'find_order',
  description: 'Finds an order by its number and says where it is.',
  read_only: true,
  example_phrases: ['where is my order'],
  parameters: {
    type: 'object',
    properties: { order_number: { type: 'string', description: 'order number' } },
    required: ['order_number'],
  },
  kind: 'Webhook',
};

export async function demoAgentWithTool({ api, url }: ServiceProcess): Promise<void> {
  const shop = await startTlsReceiver((request, response) => {
    const { order_number: number } = toolRequestOf(request).arguments;
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ message: `Order ${number} arrives on Tuesday.` }));
  });
  try {
    step('A tool for the agent is defined, tested and taken live');
    const { status, body: tool } = await api.post('/api/tools', {
      ...FIND_ORDER,
      endpoint: `${shop.url}/find-order`,
    });
    check(
      'find_order is a draft; its secret is shown once',
      status === 201 && tool.status === 'draft' && /^whsec_/.test(tool.secret),
      tool,
    );
    const early = await api.post(`/api/tools/${tool.id}/go-live`, {});
    check(
      'it cannot go live before a test call has succeeded',
      early.body.error?.code === 'tool_not_tested',
      early.body,
    );
    const test = await api.post(`/api/tools/${tool.id}/test`, {
      arguments: { order_number: 'A-1' },
    });
    check('the test call succeeds', test.body.status === 'succeeded', test.body);
    check(
      'its signature is verified over the raw body',
      signatureFault(shop.requests[0]!, tool.secret) === null,
    );
    const live = await api.post(`/api/tools/${tool.id}/go-live`, {});
    check(
      'it is live, and the answer says that the agent is still off',
      live.body.status === 'live' && live.body.notice.startsWith('The agent is off'),
      live.body,
    );
    const agent = await api.patch('/api/agent', { enabled: true });
    check('the agent is on once somebody has switched it on', agent.body.enabled === true, agent);

    step('A customer asks, and the agent calls the tool');
    const customer = await chatCustomer(url, { name: 'Ada' });
    quote('Ada', 'Where is my order A-1042?');
    await customer.write('Where is my order A-1042?');
    const answer = await agentSays(customer, 1);
    quote('Ada reads', answer);
    check(
      'the shop was asked for A-1042, and the agent answers with what it said',
      toolRequestOf(shop.requests.at(-1)!).arguments.order_number === 'A-1042' &&
        answer === 'Order A-1042 arrives on Tuesday.',
      answer,
    );

    step('With “ask before running” a person decides first');
    await api.patch(`/api/tools/${tool.id}`, { ask_before_running: true });
    quote('Ada', 'And where is order A-1043?');
    await customer.write('And where is order A-1043?');
    quote('Ada reads', await agentSays(customer, 2));
    const { body: waiting } = await api.get('/api/tool-calls?status=pending_approval');
    check(
      'the call waits, and the shop was not asked',
      waiting.data.length === 1 && shop.requests.length === 2,
      waiting,
    );
    await api.post(`/api/tool-calls/${waiting.data[0].tool_call_id}/approve`, {});
    const approved = await agentSays(customer, 3);
    quote('Ada reads', approved);
    check(
      'after the approval it runs with the same id',
      toolRequestOf(shop.requests.at(-1)!).tool_call_id === waiting.data[0].tool_call_id &&
        approved.includes('A-1043'),
      approved,
    );

    step('A tool that is not read-only waits for the customer’s yes');
    await api.patch(`/api/tools/${tool.id}`, { ask_before_running: false, read_only: false });
    quote('Ada', 'Find order A-1044');
    await customer.write('Find order A-1044');
    const question = await agentSays(customer, 4);
    quote('Ada reads', question);
    check(
      'the agent asks the customer first, and the shop was not asked',
      question.startsWith('Shall I find order A-1044?') && shop.requests.length === 3,
      question,
    );
    quote('Ada', 'Yes');
    await customer.write('Yes');
    const done = await agentSays(customer, 5);
    quote('Ada reads', done);
    check('after her yes the tool is called', done === 'Order A-1044 arrives on Tuesday.', done);

    step('A customer wants a person');
    quote('Ada', 'I want to talk to a person');
    const { conversation_id: conversationId } = await customer.write('I want to talk to a person');
    quote('Ada reads', await agentSays(customer, 6));
    const { body } = await api.get(`/api/conversations/${conversationId}`);
    check(
      'the agent hands over',
      body.status === 'awaiting_human' && body.handover.reason === 'customer_request',
      body,
    );
  } finally {
    await shop.close();
  }
}
