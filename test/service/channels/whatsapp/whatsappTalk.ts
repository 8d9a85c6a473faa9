// A WhatsApp account that is connected to a service, and customers who write to it: everything over
// real HTTP, as Meta would.
import { createHmac, randomBytes } from 'node:crypto';
import type { ApiClient } from '../../../helpers/apiClient.ts';
import {
  TEST_NUMBER,
  type GraphServer,
  type GraphStatusError,
  type TakenMessage,
  type WhatsAppStatus,
} from '../../../helpers/graphServer.ts';
import { waitFor } from '../../../helpers/waitFor.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are looked at field by field
type Json = any;

export const APP_SECRET = '0f3a9c5b7d1e4f60819a2b3c4d5e6f70';

export interface Customer {
  readonly conversationId: string;
  /** A message of the team through the API. @returns the whole answer */
  reply(text: string): ReturnType<ApiClient['post']>;
  /** How far our messages have come, oldest first. */
  deliveries(): Promise<{ text: string; state: string; error: string | null }[]>;
  /** Waits until the nth (from 1) message of ours is in one of these states. */
  delivery(nth: number, ...states: string[]): Promise<{ state: string; error: string | null }>;
}

export interface WhatsAppAccount {
  readonly channelId: string;
  /** Delivers a body as Meta does, signed. @throws Error unless it is taken */
  deliver(body: unknown): Promise<void>;
  /** Delivers how far a message has come. */
  tell(
    message: TakenMessage,
    status: WhatsAppStatus,
    errors?: readonly GraphStatusError[],
  ): Promise<void>;
  /** A customer writes. @param from a phone number, or a user id that has no phone number */
  write(from: string, text: string, at?: Date): Promise<void>;
  /** A customer writes for the first time. */
  customer(from: string, at?: Date): Promise<Customer>;
}

/**
 * Connects the graph server's number to the service. `service` is asked for its address at each
 * call: it may restart.
 */
export async function connectWhatsApp(
  service: { readonly url: string; readonly api: ApiClient },
  graph: GraphServer,
): Promise<WhatsAppAccount> {
  const { status, body: channel } = await service.api.post('/api/channels', {
    type: 'whatsapp_cloud',
    name: 'Shop',
    settings: {
      phone_number_id: graph.phoneNumberId,
      access_token: graph.accessToken,
      app_secret: APP_SECRET,
    },
  });
  if (status !== 201) throw new Error(`not connected: ${JSON.stringify(channel)}`);

  const deliver = async (given: unknown) => {
    const body = JSON.stringify(given);
    const signature = createHmac('sha256', APP_SECRET).update(body).digest('hex');
    const answer = await fetch(`${service.url}/api/channels/whatsapp_cloud/webhook/${channel.id}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` },
      body,
    });
    if (answer.status !== 200)
      throw new Error(`the webhook answered ${answer.status}: ${await answer.text()}`);
  };

  const write = (from: string, text: string, at = new Date()) =>
    deliver(inboundWebhook(from, text, at));

  const customer = async (from: string, at = new Date()): Promise<Customer> => {
    const known = new Set(await conversationIds(service.api));
    await write(from, 'Hello', at);
    const conversationId = await waitFor('the conversation', async () =>
      (await conversationIds(service.api)).find((id) => !known.has(id)),
    );
    const read = async () => {
      const { body } = await service.api.get(`/api/conversations/${conversationId}?messages=200`);
      return body.messages
        .filter(({ direction }: Json) => direction === 'outbound')
        .map(({ text, delivery }: Json) => ({ text, ...delivery }));
    };
    return {
      conversationId,
      reply: (text) => service.api.post(`/api/conversations/${conversationId}/messages`, { text }),
      deliveries: read,
      delivery: (nth, ...states) =>
        waitFor(`message ${nth} to be ${states.join(' or ')}`, async () => {
          const found = (await read())[nth - 1];
          return states.includes(found?.state) ? { state: found.state, error: found.error } : null;
        }),
    };
  };

  return {
    channelId: channel.id,
    deliver,
    write,
    tell: (message, state, errors) => deliver(graph.statusWebhook(message, state, errors)),
    customer,
  };
}

const conversationIds = async (api: ApiClient): Promise<string[]> =>
  (await api.get('/api/conversations?limit=100')).body.data.map(({ id }: Json) => id as string);

const isPhone = (from: string) => /^\d+$/.test(from);

/**
 * @see developers.facebook.com, Cloud API, "Webhooks": a text message, from a phone number or from
 * a user id alone
 */
const inboundWebhook = (from: string, body: string, at: Date) => ({
  object: 'whatsapp_business_account',
  entry: [
    {
      id: '102290129340398',
      changes: [
        {
          field: 'messages',
          value: {
            messaging_product: 'whatsapp',
            metadata: { display_phone_number: '15550783881', phone_number_id: TEST_NUMBER.id },
            contacts: [
              {
                profile: { name: 'Sheena Nelson' },
                ...(isPhone(from) ? { wa_id: from } : { user_id: from }),
              },
            ],
            messages: [
              {
                ...(isPhone(from) ? { from } : { from_user_id: from }),
                id: `wamid.${randomBytes(24).toString('base64')}`,
                timestamp: String(Math.floor(at.getTime() / 1000)),
                type: 'text',
                text: { body },
              },
            ],
          },
        },
      ],
    },
  ],
});
