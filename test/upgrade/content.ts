// What the fixtures of a release hold, and what every later version must still read from them.
import { createServer } from 'node:http';
import { chatCustomer, type ApiAnswer, type ApiClient } from '../helpers/apiClient.ts';
import { signedInBrowser } from '../helpers/browserless.ts';
import { listenTracked } from '../helpers/trackedServer.ts';
import { waitFor } from '../helpers/waitFor.ts';

/** Made up, for the fixtures only: they must open on every machine. */
export const FIXTURE = {
  apiKey: `cs_live_${'F'.repeat(32)}`,
  encryptionKey: Buffer.from('the key of the fixtures, no other')
    .subarray(0, 32)
    .toString('base64'),
  email: 'ana@example.com',
  password: 'a password of the fixtures',
};

/** Settings of a service that writes or reads fixtures. Nothing is removed for its age. */
export const FIXTURE_ENV = {
  ENCRYPTION_KEY: FIXTURE.encryptionKey,
  ALLOWED_NETWORKS: '127.0.0.0/8',
  INSECURE_TARGETS: 'true',
  AGENT_QUIET_MS: '1',
  RETENTION_DAYS: '3650',
  LOG_LEVEL: 'warn',
};

// Nobody answers at this address.
const TARGET = 'https://127.0.0.1:9';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- an answer of any version
type Json = any;

/** @throws Error when the API refused */
function bodyOf({ status, body }: ApiAnswer): Json {
  if (status >= 300) throw new Error(JSON.stringify(body));
  return body;
}

/** Writes something of every kind that is stored. */
export async function writeContent(url: string, api: ApiClient): Promise<void> {
  const made = async (path: string, body: unknown): Promise<Json> =>
    bodyOf(await api.post(path, body));
  await made('/api/hooks', {
    events: ['message.received', 'conversation.closed'],
    target_url: `${TARGET}/events`,
    source: 'n8n',
    filter: { channels: ['web_chat'] },
    catch_up: true,
  });
  await made('/api/tools', {
    name: 'find_order',
    description: 'Finds an order by its number',
    kind: 'Webhook',
    endpoint: `${TARGET}/tool`,
    parameters: {
      type: 'object',
      properties: { number: { type: 'string', description: 'The number of the order' } },
      required: ['number'],
    },
    read_only: true,
    example_phrases: ['where is my order'],
  });
  await made('/api/channels', {
    type: 'whatsapp_cloud',
    name: 'Shop',
    settings: {
      phone_number_id: '106540352242922',
      access_token: 'EAAfixture',
      app_secret: 'a'.repeat(32),
    },
  });
  await api.put('/api/payment-accounts/manual', { settings: { instructions: 'Transfer to DE00' } });

  const eva = await chatCustomer(url, {
    name: 'Eva',
    email: 'eva@example.com',
    phone: '+491701234567',
  });
  const first = await eva.write('Where is order A-1042?');
  await eva.write('Grüße – and 日本語 🎉');
  await made(`/api/conversations/${first.conversation_id}/messages`, { text: 'It is on its way.' });
  await made(`/api/conversations/${first.conversation_id}/notes`, { text: 'A good customer' });
  await made(`/api/conversations/${first.conversation_id}/payment-links`, {
    amount: 4900,
    currency: 'eur',
    description: 'Demo',
    expires_in: 31_536_000,
  });
  const wait = await made('/api/waits', {
    kind: 'decision',
    conversation_id: first.conversation_id,
    message: 'Refund 49 EUR?',
    resume_url: `${TARGET}/resume`,
  });
  await made(`/api/waits/${wait.id}/decide`, { approved: true, note: 'fine' });

  const bo = await chatCustomer(url, { name: 'Bo' });
  const second = await bo.write('hello');
  await made(`/api/conversations/${second.conversation_id}/takeover`, {});
  await made(`/api/conversations/${second.conversation_id}/close`, {
    summary: 'Said hello',
    verdict: 'goal_reached',
  });
  await bo.write('hello again');

  const browser = await signedInBrowser(url, FIXTURE);
  const saved = await browser.post('/settings/canned-replies', CANNED_REPLY);
  if (!saved.path.endsWith('notice=saved')) throw new Error(saved.text);

  const system = await startSystem();
  try {
    await writeAgentsWork(url, api, system.url);
  } finally {
    await system.close();
  }
}

export const CANNED_REPLY = {
  name: 'Opening hours',
  shortcut: 'hours',
  text: 'Hello {{customer_first_name|there}}, we are here from 9 to 17.',
};

/** Stands in for the team's systems: answers each tool call, and each turn of the agent. */
async function startSystem() {
  const server = createServer((request, response) => {
    request.resume();
    const answer =
      request.url === '/turn' ? { reply: 'I am a workflow.' } : { found: 'in the stock' };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  });
  const { port, close } = await listenTracked(server, 0, '127.0.0.1');
  return { url: `http://127.0.0.1:${port}`, close };
}

/** Writes a tool call that ended, one that waits for a person, a workflow's turn, and a wait. */
async function writeAgentsWork(url: string, api: ApiClient, system: string): Promise<void> {
  for (const [name, changes] of [
    ['check_stock', { read_only: true }],
    ['rent_bicycle', { read_only: true, ask_before_running: true }],
  ] as const) {
    const publication = {
      definition: {
        description: 'Does it.',
        parameters: { type: 'object', properties: {} },
        endpoint: `${system}/tool`,
        ...changes,
      },
      sample_arguments: {},
      owner: { ...OWNER, node_id: name },
    };
    bodyOf(await api.put(`/api/tools/published/${name}`, publication));
  }
  await api.patch('/api/agent', { enabled: true });
  const cleo = await chatCustomer(url, { name: 'Cleo' });
  await cleo.write('check stock');
  await callsIn('succeeded', 'check_stock');
  const dan = await chatCustomer(url, { name: 'Dan' });
  await dan.write('rent bicycle');
  await callsIn('pending_approval', 'rent_bicycle');

  const workflow = { endpoint: `${system}/turn`, owner: OWNER };
  bodyOf(await api.put('/api/agent/webhook', workflow));
  const ed = await chatCustomer(url, { name: 'Ed' });
  const { conversation_id } = await ed.write('Who are you?');
  await waitFor('the turn to end', async () =>
    (await api.get('/api/agent-turns')).body.data.some((each: Json) => each.status === 'answered'),
  );
  const question = {
    kind: 'reply',
    conversation_id,
    message: 'Which day suits you?',
    accept: { type: 'choice', choices: ['Tuesday', 'Thursday'] },
    resume_url: `${TARGET}/resume`,
    expires_at: new Date(Date.now() + 360 * 86_400_000).toISOString(),
  };
  bodyOf(await api.post('/api/waits', question));
  // So that the agent says nothing once the approval and the wait have expired.
  await api.patch('/api/agent', { enabled: false });

  async function callsIn(status: string, tool: string): Promise<void> {
    await waitFor(`a call of ${tool} that is ${status}`, async () => {
      const { body } = await api.get('/api/tool-calls?limit=200');
      return body.data.some((each: Json) => each.status === status && each.tool === tool);
    });
  }
}

const OWNER = {
  instance_id: 'instance-1',
  workflow_id: 'workflow-1',
  workflow_name: 'Orders',
  node_id: 'node-1',
  host: 'n8n.example.com',
};

const pick = (record: Json, ...names: string[]): Json =>
  Object.fromEntries(names.map((name) => [name, record[name]]));

/** What must read the same in every later version; fields that may be added are left out. */
export async function readContent(api: ApiClient): Promise<Json> {
  const list = async (path: string): Promise<Json[]> => {
    const { status, body } = await api.get(path);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    const idOf = (each: Json): string => each.id ?? each.tool_call_id ?? each.turn_id;
    return [...body.data].sort((a: Json, b: Json) => (idOf(a) < idOf(b) ? -1 : 1));
  };
  const conversations = [];
  for (const { id } of await list('/api/conversations?limit=200')) {
    const { body } = await api.get(`/api/conversations/${id}?messages=0`);
    const messages = await list(`/api/conversations/${id}/messages?limit=200`);
    conversations.push({
      ...pick(
        body,
        'id',
        'status',
        'funnel_stage',
        'channel',
        'previous_conversation_id',
        'created_at',
      ),
      contact: pick(body.contact, 'id', 'name', 'phone_masked', 'email_masked'),
      verdict: body.outcome?.verdict ?? null,
      messages: messages.map((each) => pick(each, 'id', 'direction', 'type', 'text', 'created_at')),
    });
  }
  return {
    conversations,
    hooks: (await list('/api/hooks')).map((each) =>
      pick(each, 'id', 'events', 'target_url', 'source', 'filter', 'catch_up'),
    ),
    tools: (await list('/api/tools')).map((each) =>
      pick(each, 'id', 'name', 'description', 'kind', 'parameters', 'status', 'read_only'),
    ),
    payment_links: (await list('/api/payment-links')).map((each) =>
      pick(each, 'id', 'amount', 'currency', 'description', 'provider', 'created_at'),
    ),
    channels: (await list('/api/channels')).map((each) => pick(each, 'id', 'type', 'name')),
    // Without their status, since one of each kind is open and will expire.
    waits: (await list('/api/waits')).map((each) => pick(each, 'id', 'kind', 'conversation_id')),
    tool_calls: (await list('/api/tool-calls')).map((each) =>
      pick(each, 'tool_call_id', 'tool', 'arguments', 'created_at'),
    ),
    agent_turns: (await list('/api/agent-turns')).map((each) =>
      pick(each, 'turn_id', 'conversation_id', 'status', 'created_at'),
    ),
    agent: pick((await api.get('/api/agent')).body, 'enabled', 'use_webhook'),
    members: (await list('/api/members')).map((each) => pick(each, 'id', 'name')),
  };
}
