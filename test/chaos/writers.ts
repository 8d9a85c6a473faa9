import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readWholeChat } from '../helpers/apiClient.ts';
import { bodyOf, clientsOf, insist } from './insist.ts';

/** Writes that the service has acknowledged, by the message id that it gave. */
export interface Acknowledged {
  /** `message_id` of a 202 → the customer's `client_message_id`. */
  readonly received: Map<string, string>;
  /** The id of a 201's message → its Idempotency-Key. */
  readonly sent: Map<string, string>;
}

export interface Writers {
  readonly acknowledged: Acknowledged;
  /** Calls that got no answer, or a 503, and were made again. */
  readonly repeated: number;
  /**
   * Ends once every call begun is acknowledged, so that the ledger is whole. @throws what was
   * unexpected in an answer
   */
  stop(): Promise<void>;
  /** All messages and replies that are stored now, as the customers read them. */
  readAll(): Promise<{ id: string; text: string }[]>;
}

interface Customer {
  readonly token: string;
  conversationId: string | null;
}

const CUSTOMERS = 16;
const PAUSE_MS = 80;

/**
 * Customers who write and a team that answers, through every crash. A call is repeated under the same
 * id until the service answers.
 * @param urls of processes that share the work: a repeated call goes to another one
 */
export async function startWriters(urls: readonly string[], apiKey: string): Promise<Writers> {
  const as = clientsOf(urls);
  const acknowledged: Acknowledged = { received: new Map(), sent: new Map() };
  let repeated = 0;
  let stopping = false;
  const post = (
    path: string,
    token: string | null,
    body: unknown,
    headers?: Record<string, string>,
  ) =>
    insist(
      () => as(token).post(path, body, headers),
      () => void (repeated += 1),
    );

  const write = async (customer: Customer) => {
    const clientMessageId = randomUUID();
    const answer = await post('/api/chat/messages', customer.token, {
      text: `A question ${clientMessageId}`,
      client_message_id: clientMessageId,
    });
    const { message_id: id, conversation_id: conversationId } = bodyOf(answer, 202, 'a message');
    acknowledged.received.set(id, clientMessageId);
    customer.conversationId = conversationId;
  };
  const reply = async ({ conversationId }: Customer) => {
    const key = randomUUID();
    const answer = await post(
      `/api/conversations/${conversationId}/messages`,
      apiKey,
      { text: `An answer ${key}` },
      { 'idempotency-key': key },
    );
    acknowledged.sent.set(bodyOf(answer, 201, 'a reply').message.id, key);
  };
  const act = async (customer: Customer) => {
    while (!stopping) {
      await write(customer);
      await sleep(PAUSE_MS * Math.random());
      await reply(customer);
      await sleep(PAUSE_MS);
    }
  };

  const customers = await Promise.all(
    Array.from({ length: CUSTOMERS }, async (): Promise<Customer> => {
      const { token } = bodyOf(await post('/api/chat/sessions', null, {}), 201, 'a chat session');
      return { token, conversationId: null };
    }),
  );
  const running = Promise.all(customers.map(act));
  running.catch(() => {});
  return {
    acknowledged,
    get repeated() {
      return repeated;
    },
    async stop() {
      stopping = true;
      await running;
    },
    readAll: async () =>
      (await Promise.all(customers.map(({ token }) => readWholeChat(as(token))))).flat(),
  };
}
