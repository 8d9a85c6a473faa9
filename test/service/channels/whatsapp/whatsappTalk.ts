// A WhatsApp account that is connected to a service, and customers who write to it: everything over
// real HTTP, as Meta would.
import type { ApiClient } from '../../../helpers/apiClient.ts';
import type {
  GraphServer,
  GraphStatusError,
  TakenMessage,
  WhatsAppStatus,
} from '../../../helpers/graphServer.ts';
import { connectNumber, deliver, metaText } from '../../../helpers/meta.ts';
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
  /** Waits until the nth (from 1) message of ours is in this state. */
  delivery(nth: number, state: string): Promise<{ state: string; error: string | null }>;
}

export interface WhatsAppAccount {
  readonly channelId: string;
  /** Delivers a body as Meta does, signed. @throws Error unless it is taken */
  deliver(body: unknown): Promise<void>;
  /** Delivers the status of a message, as Meta does. */
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
  const number = await connectNumber(service.api, {
    account: graph.phoneNumberId,
    appSecret: APP_SECRET,
    accessToken: graph.accessToken,
  });

  const take = async (given: unknown) => {
    const { status, text } = await deliver(service.url, number, given);
    if (status !== 200) throw new Error(`the webhook answered ${status}: ${text}`);
  };

  const write = (from: string, text: string, at = new Date()) => {
    const who = isPhone(from) ? { phone: from } : { phone: null, userId: from };
    return take(metaText(text, { ...who, timestamp: String(Math.floor(at.getTime() / 1000)) }));
  };

  const customer = async (from: string, at = new Date()): Promise<Customer> => {
    await write(from, 'Hello', at);
    const conversationId = await conversationOf(service.api, from);
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
      delivery: (nth, state) =>
        waitFor(`message ${nth} to be ${state}`, async () => {
          const found = (await read())[nth - 1];
          return found?.state === state && { state, error: found.error };
        }),
    };
  };

  return {
    channelId: number.id,
    deliver: take,
    write,
    tell: (message, state, errors) => take(graph.statusWebhook(message, state, errors)),
    customer,
  };
}

const isPhone = (from: string) => /^\d+$/.test(from);

/** Looked up by phone number. A user id cannot be looked up: its conversation is the newest. */
const conversationOf = async (api: ApiClient, from: string): Promise<string> =>
  isPhone(from)
    ? (await api.post('/api/contacts/lookup', { phone: `+${from}` })).body.id
    : (await api.get('/api/conversations?limit=1')).body.data[0].id;
