// What the fixtures of a release hold, and what every later version must still read from them.
import type { ApiClient } from '../helpers/apiClient.ts';
import { chatCustomer } from '../helpers/apiClient.ts';

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
  RETENTION_DAYS: '3650',
  LOG_LEVEL: 'warn',
};

// Nobody answers there.
const TARGET = 'https://127.0.0.1:9';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- an answer of any version
type Json = any;

/** Something of every kind that the API can make without another system. */
export async function writeContent(url: string, api: ApiClient): Promise<void> {
  const made = async (path: string, body: unknown): Promise<Json> => {
    const answer = await api.post(path, body);
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
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
}

const pick = (record: Json, ...names: string[]): Json =>
  Object.fromEntries(names.map((name) => [name, record[name]]));

/** What must read the same in every later version; fields that may be added are left out. */
export async function readContent(api: ApiClient): Promise<Json> {
  const list = async (path: string): Promise<Json[]> => {
    const { status, body } = await api.get(path);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    return [...body.data].sort((a: Json, b: Json) => (a.id < b.id ? -1 : 1));
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
    waits: (await list('/api/waits')).map((each) => pick(each, 'id', 'kind', 'status')),
    members: (await list('/api/members')).map((each) => pick(each, 'id', 'name')),
  };
}
