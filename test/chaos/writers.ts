import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** Writes that the service has acknowledged, by the id of the message that it gave. */
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
   * Finishes what was begun, so that the ledger is whole. @throws what was unexpected in an answer
   */
  stop(): Promise<void>;
  /** What is stored now: every customer's messages and replies, as the customer reads them. */
  readAll(): Promise<{ id: string; text: string }[]>;
}

interface Customer {
  readonly token: string;
  conversationId: string | null;
}

const CUSTOMERS = 16;
const PAUSE_MS = 80;
const AGAIN_MS = 25;
/**
 * A call that was under way when its process was killed may hang on a socket that nobody closes.
 */
const PATIENCE_MS = 5000;

/**
 * Customers who write and a team that answers, through every crash: what got no answer is written
 * again under the same id until it has one.
 * @param urls of processes that share the work: each call goes to the next one, a repeated one too
 */
export async function startWriters(
  urls: string | readonly string[],
  apiKey: string,
): Promise<Writers> {
  const nextUrl = inTurn(typeof urls === 'string' ? [urls] : urls);
  const acknowledged: Acknowledged = { received: new Map(), sent: new Map() };
  let repeated = 0;
  let stopping = false;

  /** Until there is an answer that is no 503. */
  const insist = async (
    path: string,
    token: string | null,
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: never }> => {
    for (;;) {
      const answer = await call(nextUrl() + path, token, body, headers);
      if (answer !== null) return answer;
      repeated += 1;
      await sleep(AGAIN_MS);
    }
  };
  const expectStatus = (
    { status, body }: { status: number; body: unknown },
    wanted: number,
    what: string,
  ) => {
    if (status !== wanted)
      throw new Error(`${what} was answered with ${status}: ${JSON.stringify(body)}`);
  };

  const write = async (customer: Customer) => {
    const clientMessageId = randomUUID();
    const answer = await insist('/api/chat/messages', customer.token, {
      text: `A question ${clientMessageId}`,
      client_message_id: clientMessageId,
    });
    expectStatus(answer, 202, 'a message');
    const { message_id: id, conversation_id: conversationId } = answer.body as {
      message_id: string;
      conversation_id: string;
    };
    acknowledged.received.set(id, clientMessageId);
    customer.conversationId = conversationId;
  };
  const reply = async ({ conversationId }: Customer) => {
    if (conversationId === null) return;
    const key = randomUUID();
    const answer = await insist(
      `/api/conversations/${conversationId}/messages`,
      apiKey,
      { text: `An answer ${key}` },
      { 'idempotency-key': key },
    );
    expectStatus(answer, 201, 'a reply');
    acknowledged.sent.set((answer.body as { message: { id: string } }).message.id, key);
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
      const answer = await insist('/api/chat/sessions', null, {});
      expectStatus(answer, 201, 'a chat session');
      return { token: (answer.body as { token: string }).token, conversationId: null };
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
      (await Promise.all(customers.map(({ token }) => readAll(nextUrl(), token)))).flat(),
  };
}

/** Each of them, over and over. */
function inTurn(urls: readonly string[]): () => string {
  let calls = 0;
  return () => urls[calls++ % urls.length]!;
}

async function readAll(url: string, token: string): Promise<{ id: string; text: string }[]> {
  const all: { id: string; text: string }[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const response: Response = await fetch(
      `${url}/api/chat/messages?limit=200${cursor && `&cursor=${cursor}`}`,
      { headers: { authorization: `Bearer ${token}` } },
    );
    const page = (await response.json()) as {
      data: { id: string; text: string }[];
      next_cursor: string | null;
    };
    all.push(...page.data);
    cursor = page.next_cursor;
  }
  return all;
}

/** @returns null when there was no answer, or a 503 */
async function call(
  url: string,
  token: string | null,
  body: unknown,
  headers: Record<string, string>,
): Promise<{ status: number; body: never } | null> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const answer = (await response.json()) as never;
    return response.status === 503 ? null : { status: response.status, body: answer };
  } catch {
    return null;
  }
}
