// Two days of a shop: what the pictures of the screens show and the accessibility tests check.
import type { Clock } from '../../service/src/platform/clock.ts';
import { chatCustomer, type ApiClient, type ChatCustomer } from '../helpers/apiClient.ts';
import { graphError, type GraphServer } from '../helpers/graphServer.ts';
import { connectNumber, deliver, metaText, type ConnectedNumber } from '../helpers/meta.ts';
import {
  agentSays,
  callIn,
  makeLive,
  type DefinedTool,
  type ToolEndpoint,
} from '../helpers/toolEndpoint.ts';
import { waitFor } from '../helpers/waitFor.ts';
import type { Team } from './team.ts';

export const SHOP_ENV = { BOOTSTRAP_WORKSPACE: 'Harbour Outfitters' };

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A clock that is behind, so that samples can have happened a while ago. */
export interface LateClock extends Clock {
  /** May only be reduced: time does not go back. */
  behindMs: number;
}
export const lateClock = (): LateClock => ({
  behindMs: 50 * HOUR,
  now() {
    return new Date(Date.now() - this.behindMs);
  },
});

/** Ids of what the screens show; conversations where nothing else is said. */
export interface SampleContent {
  readonly answered: string;
  /** A tool call waits for an approval. */
  readonly approval: string;
  readonly waiting: string;
  /** For ana to take over. */
  readonly mine: string;
  readonly closed: string;
  readonly liveTool: string;
  readonly failedTool: string;
  readonly httpTool: string;
  /** A subscription whose deliveries fail. */
  readonly failing: string;
  /** A connected WhatsApp number. */
  readonly channel: string;
  /** On WhatsApp: a message was read, another failed, and the window closes soon. */
  readonly onWhatsApp: string;
  /** On WhatsApp, where the window is closed. */
  readonly outsideWindow: string;
  /** With payment links: one open, one paid, one cancelled. */
  readonly paying: string;
  /** The path of the page on which the customer pays the open one. */
  readonly payPath: string;
  /** A workflow's question to the team, without a conversation. */
  readonly wait: string;
  /** A customer who comes back to their chat. */
  readonly customer: ChatCustomer;
}

/**
 * Fills a new service as ana's team would have used it for two days. The clock is right afterwards.
 */
export async function fillWithSamples(
  { service, endpoint, graph }: Pick<Team, 'service' | 'endpoint' | 'graph'>,
  clock: LateClock,
): Promise<SampleContent> {
  const { api, url } = service;
  const startConversation = async (claims: Record<string, string>, text: string) => {
    const customer = await chatCustomer(url, claims);
    const { conversation_id: id } = await customer.write(text);
    return { customer, id };
  };
  const startAnswered = async (claims: Record<string, string>, text: string) => {
    const started = await startConversation(claims, text);
    await agentSays(started.customer);
    return started;
  };

  await api.patch('/api/agent', {
    name: 'Skipper',
    greeting: 'Welcome to Harbour Outfitters!',
    instructions:
      'You help customers of Harbour Outfitters, a shop for sailing clothes and camping gear in Bristol.\nBe brief and kind. Open on weekdays from 9 to 18, on Saturdays from 10 to 16.\nNever promise a date of delivery that no tool has given you.',
    languages: ['en', 'es'],
    payment_links: 'off',
  });
  await setUpPayments(api);
  const tools = await defineTools(api, endpoint);
  const failing = await subscribe(api, endpoint);

  const sofia = await startAnswered(
    { name: 'Sofia Rossi', email: 'sofia.rossi@example.com' },
    'Where is my order A-1042?',
  );
  clock.behindMs = 49 * HOUR;
  await api.post(`/api/conversations/${sofia.id}/close`, {
    summary: 'Order A-1042 had been sent; told her the day of delivery.',
    verdict: 'goal_reached',
  });
  clock.behindMs = 28 * HOUR;
  const number = await connectShop(api, graph);
  const ravi = await writeOnWhatsApp(service, graph, number, clock, {
    phone: '447700900145',
    name: 'Ravi Patel',
    text: 'Do you ship to Ireland?',
  });
  clock.behindMs = 26 * HOUR;
  const kenji = await startConversation(
    { phone: '+44 20 7946 0018' },
    'Do you have the Fastnet jacket in size L?',
  );
  await agentSays(kenji.customer);
  const payPath = await makePaymentLinks(api, kenji.id);
  clock.behindMs = 22 * HOUR;
  const elena = await writeOnWhatsApp(service, graph, number, clock, {
    phone: '34600000112',
    name: 'Elena Vidal',
    text: 'Is the Fastnet jacket waterproof?',
  });
  await deliver(url, number, graph.statusWebhook(graph.taken.at(-1)!, 'read'));
  await failToReply(api, graph, elena);
  clock.behindMs = 3 * HOUR;
  const maria = await startAnswered(
    { name: 'María López', email: 'maria.lopez@example.com', phone: '+34 612 345 678' },
    'Hi, where is my order A-1077?',
  );
  await maria.customer.write('Great, thank you!');
  await waitFor(
    'the second answer',
    async () =>
      (await maria.customer.read()).filter(({ from }: { from: string }) => from === 'agent')
        .length >= 2,
  );
  clock.behindMs = 55 * MINUTE;
  const jonas = await startAnswered(
    { name: 'Jonas Lind', email: 'jonas.lind@example.com' },
    'My two-man tent leaks at the seam after one season. Can I talk to a person?',
  );
  clock.behindMs = 20 * MINUTE;
  const aisha = await startAnswered(
    { name: 'Aisha Khan', email: 'aisha@example.com' },
    'Can I talk to a person, please? It is about an invoice.',
  );
  await aisha.customer.write('The VAT number is missing on it.');
  clock.behindMs = 6 * MINUTE;
  const tom = await startAnswered(
    { name: 'Tom Becker', email: 'tom.becker@example.com' },
    'Hello, I need to cancel order A-1093, I chose the wrong size.',
  );
  await tom.customer.write('Yes, please.');
  await callIn(api, `conversation_id=${tom.id}`, 'pending_approval');
  const wait = await askByWorkflows(api, endpoint, { team: aisha.id, customer: kenji.id });
  clock.behindMs = 0;
  await api.patch('/api/agent', { payment_links: 'ask' });
  return {
    answered: maria.id,
    approval: tom.id,
    waiting: aisha.id,
    mine: jonas.id,
    closed: sofia.id,
    liveTool: tools.find.id,
    failedTool: tools.stock.id,
    httpTool: tools.cancel.id,
    failing,
    channel: number.id,
    onWhatsApp: elena,
    outsideWindow: ravi,
    paying: kenji.id,
    payPath,
    wait,
    customer: maria.customer,
  };
}

/**
 * Workflows ask the team in a conversation, then a customer, then the team without a conversation.
 * @returns the last question
 */
async function askByWorkflows(
  api: ApiClient,
  endpoint: ToolEndpoint,
  conversations: { readonly team: string; readonly customer: string },
): Promise<string> {
  const ask = async (path: string, wait: object): Promise<string> =>
    (await api.post('/api/waits', { resume_url: `${endpoint.url}${path}`, ...wait })).body.id;
  await ask('/webhook-waiting/1', {
    kind: 'decision',
    conversation_id: conversations.team,
    message: 'May I send Aisha Khan a corrected invoice?',
    details: { invoice: '2026-0418', vat_number: 'GB 123 4567 89', total: 249 },
    approve_label: 'Send it',
  });
  await ask('/webhook-waiting/2', {
    kind: 'reply',
    conversation_id: conversations.customer,
    message: 'Which size should we send?',
    accept: { type: 'choice', choices: ['M', 'L', 'XL'] },
  });
  return ask('/webhook-waiting/3', {
    kind: 'decision',
    message: 'Publish the autumn price list?',
    details: {
      changes: [
        { article: 'Fastnet jacket', price: 259 },
        { article: 'Two-man tent', price: 189 },
      ],
      valid_from: '2026-12-01',
      remark: 'Prices of last year, with the new VAT. '.repeat(40),
    },
  });
}

async function setUpPayments(api: ApiClient): Promise<void> {
  await api.put('/api/payment-accounts/manual', {
    settings: {
      instructions:
        'Transfer to Harbour Outfitters Ltd, GB33 BUKB 2020 1555 5555 55,\nwith the reference of this page.',
    },
  });
  await api.put('/api/payment-accounts/stripe', {
    settings: {
      secret_key: 'sk_test_51HarbourOutfitters',
      webhook_secret: 'whsec_0123456789abcdefABCDEF',
    },
  });
}

/** @returns the path of the page on which the open one is paid */
async function makePaymentLinks(api: ApiClient, conversationId: string): Promise<string> {
  const make = async (amount: number, description: string): Promise<{ id: string; url: string }> =>
    (
      await api.post(`/api/conversations/${conversationId}/payment-links`, {
        amount,
        currency: 'gbp',
        description,
        provider: 'manual',
      })
    ).body;
  const cancelled = await make(24_900, 'Fastnet jacket, size M');
  await api.post(`/api/payment-links/${cancelled.id}/cancel`, {});
  const paid = await make(24_900, 'Fastnet jacket, size L');
  await api.post(`/api/payment-links/${paid.id}/mark-paid`, { reference: 'Transfer 2026-1182' });
  return new URL((await make(1250, 'Delivery on Saturday')).url).pathname;
}

const ORDER_PARAMETERS = {
  type: 'object',
  properties: { order_number: { type: 'string', description: 'Order number' } },
  required: ['order_number'],
};

async function defineTools(
  api: ApiClient,
  endpoint: ToolEndpoint,
): Promise<Record<'find' | 'cancel' | 'stock', DefinedTool>> {
  endpoint.answerAlways('/find_order', {
    json: {
      message: 'It left our warehouse yesterday and arrives on Tuesday.',
      status: 'shipped',
      carrier: 'Royal Mail',
    },
  });
  endpoint.answerAlways('/cancel_order', {
    json: {
      message: 'Order A-1093 is cancelled. The money is back within three days.',
      refund: { amount: 89, currency: 'GBP' },
    },
  });
  endpoint.answerAlways('/check_stock', {
    status: 500,
    json: { error: 'the stock system is being updated' },
  });
  const find = await endpoint.define(api, {
    name: 'find_order',
    description: 'Finds an order by its number and says where it is.',
    example_phrases: ['where is my order', 'has my order left'],
    parameters: ORDER_PARAMETERS,
  });
  await makeLive(api, find, { order_number: 'A-1042' });
  const cancel = await endpoint.defineHttp(api, {
    name: 'cancel_order',
    description: 'Cancels an order that was not sent yet, and pays it back.',
    read_only: false,
    parameters: ORDER_PARAMETERS,
    ask_before_running: true,
    secrets: { SHOP_TOKEN: 'shop-token' },
    request_template: {
      method: 'POST',
      url: `${endpoint.url}/cancel_order`,
      headers: { Authorization: 'Bearer {{secrets.SHOP_TOKEN}}', 'Idempotency-Key': '{{call.id}}' },
      body: { order: '{{args.order_number}}', reason: 'customer' },
      response_fields: ['message', 'refund.amount'],
    },
  });
  await makeLive(api, cancel, { order_number: 'A-1000' });
  const stock = await endpoint.define(api, {
    name: 'check_stock',
    description: 'Says whether an article is there in a size.',
    parameters: {
      type: 'object',
      properties: {
        article: { type: 'string', description: 'Name of the article' },
        size: { type: 'string', enum: ['S', 'M', 'L', 'XL'] },
      },
      required: ['article'],
    },
  });
  await api.post(`/api/tools/${stock.id}/test`, {
    arguments: { article: 'Fastnet jacket', size: 'L' },
  });
  return { find, cancel, stock };
}

async function connectShop(api: ApiClient, graph: GraphServer): Promise<ConnectedNumber> {
  const number = await connectNumber(api, { accessToken: graph.accessToken });
  await api.patch(`/api/channels/${number.id}`, { name: 'Harbour Outfitters' });
  await api.post(`/api/channels/${number.id}/test`);
  return number;
}

/** A customer writes, and the agent answers. @returns the conversation */
async function writeOnWhatsApp(
  { url, api }: Team['service'],
  graph: GraphServer,
  number: ConnectedNumber,
  clock: Clock,
  { phone, name, text }: { phone: string; name: string; text: string },
): Promise<string> {
  const before = graph.taken.length;
  await deliver(
    url,
    number,
    metaText(text, { phone, name, timestamp: String(Math.floor(clock.now().getTime() / 1000)) }),
  );
  await waitFor(`the agent's answer to ${name}`, () => graph.taken.length > before);
  const { body } = await api.post('/api/contacts/lookup', { phone: `+${phone}` });
  await waitFor(
    'its delivery on record',
    async () => (await messagesOf(api, body.id)).at(-1).delivery?.state === 'sent',
  );
  return body.id;
}

/** A reply of the team that WhatsApp does not deliver. */
async function failToReply(api: ApiClient, graph: GraphServer, id: string): Promise<void> {
  graph.answerWith(graphError(400, { code: 131026, message: '(#131026) Message undeliverable' }));
  await api.post(`/api/conversations/${id}/messages`, { text: 'It is: the seams are taped.' });
  await waitFor(
    'the failure',
    async () => (await messagesOf(api, id)).at(-1).delivery.state === 'failed',
  );
}

const messagesOf = async (api: ApiClient, id: string) =>
  (await api.get(`/api/conversations/${id}`)).body.messages;

/** @returns the subscription that fails */
async function subscribe(api: ApiClient, endpoint: ToolEndpoint): Promise<string> {
  endpoint.answerAlways(
    '/webhook/closed',
    (_request, response) =>
      void response
        .writeHead(404, { 'content-type': 'application/json' })
        .end('{"code":404,"message":"The requested webhook is not registered."}'),
  );
  const create = async (path: string, wanted: object): Promise<string> =>
    (await api.post('/api/hooks', { target_url: `${endpoint.url}${path}`, ...wanted })).body.id;
  const workflow = (workflow_id: string, workflow_name: string) => ({
    source: 'n8n',
    catch_up: true,
    owner: {
      instance_id: '5d9f1c',
      workflow_id,
      workflow_name,
      node_id: '2b7c9e4a-3f0d-4c1b-9a52-0f6d8e1c7b33',
      host: 'n8n.example.com',
    },
  });
  await create('/webhook/incoming', {
    events: ['message.received', 'conversation.opened'],
    ...workflow('w1', 'After-hours answer'),
    filter: { statuses: ['ai_active', 'awaiting_human'] },
  });
  await create('/webhook/notify-team', {
    events: ['conversation.handed_over'],
    ...workflow('w2', 'Urgent to the team'),
  });
  await create('/crm/leads', { events: ['conversation.qualified'], source: 'CRM' });
  const failing = await create('/webhook/closed', {
    events: ['conversation.closed', 'payment.paid'],
    ...workflow('w3', 'Lead to CRM'),
    filter: { channels: ['web_chat'] },
  });
  for (let n = 1; n <= 5; n++) await api.post(`/api/hooks/${failing}/test`, {});
  await waitFor('five failures', async () =>
    (await api.get('/api/hooks')).body.data.some(
      ({ status }: { status: string }) => status === 'failing',
    ),
  );
  return failing;
}
