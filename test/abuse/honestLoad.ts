// The honest tenant: a light load of every kind, measured in the same way with and without an attack.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, fetch, type RequestInit, type Response } from 'undici';
import type { EventReceiver } from '../helpers/eventReceiver.ts';
import { MEMBER } from '../helpers/browserless.ts';
import { makeLive, type DefinedTool, type ToolEndpoint } from '../helpers/toolEndpoint.ts';
import { waitFor } from '../helpers/waitFor.ts';
import type { Tenant } from './tenants.ts';

export const KINDS = [
  'health check',
  'message',
  'delivery',
  'API call',
  'tool call',
  'sign-in',
  'stream',
] as const;
export type Kind = (typeof KINDS)[number];

/** How long each request of a kind took, in ms. */
export type Times = Readonly<Record<Kind, readonly number[]>>;

/**
 * The time between two requests of a kind. None waits for the answer to the one before, so a stall
 * delays all requests that fall into it.
 */
const EVERY_MS = {
  'health check': 100,
  message: 250,
  'API call': 200,
  'tool call': 500,
  'sign-in': 1000,
  stream: 500,
} as const;
/** Deliveries follow from messages; all other kinds are requests. */
type RequestKind = keyof typeof EVERY_MS;

/** By then the service refuses by itself. A request that still has no answer is lost. */
const PATIENCE_MS = 90_000;
const VISITORS = 24;

/** Keeps connections open as a proxy does, and closes them long before the service would. */
const LIKE_A_PROXY = {
  dispatcher: new Agent({
    keepAliveTimeout: 4000,
    keepAliveMaxTimeout: 4000,
    connect: { timeout: PATIENCE_MS },
  }),
};

interface Visitor {
  readonly address: string;
  readonly token: string;
}

export interface HonestLoad {
  /** What was refused or lost, in words. */
  readonly faults: readonly string[];
  /**
   * Runs the load for so many ms, or until the promise settles. Resolves once every request is
   * answered and every message is delivered.
   */
  run(until: number | Promise<unknown>): Promise<Times>;
  /** Writes one more message. */
  write(): Promise<void>;
  /** Acknowledged messages that nobody can read. */
  missing(): Promise<string[]>;
  /** Waits until each acknowledged message has been delivered, once or more. */
  allDelivered(): Promise<void>;
}

export interface HonestLoadParts {
  readonly url: string;
  readonly tenant: Tenant;
  readonly receiver: EventReceiver;
  readonly endpoint: ToolEndpoint;
  /** Whether an honest visitor may get this answer during the attack: it counts as no fault. */
  readonly mayRefuse?: (kind: Kind, status: number) => boolean;
}

export async function startHonestLoad({
  url,
  tenant,
  receiver,
  endpoint,
  mayRefuse = () => false,
}: HonestLoadParts): Promise<HonestLoad> {
  const faults: string[] = [];
  /** By message id. */
  const acknowledged = new Map<string, { text: string; visitor: Visitor }>();
  let signIns = 0;
  let visits = 0;

  /** @returns the body, or null when the answer is a refusal that `mayRefuse` allows */
  const ask = async (
    kind: Kind,
    path: string,
    init: RequestInit,
    wantedStatus: number,
  ): Promise<string | null> => {
    const response = await fetch(url + path, {
      ...LIKE_A_PROXY,
      ...init,
      signal: AbortSignal.timeout(PATIENCE_MS),
      redirect: 'manual',
    });
    const text = await response.text();
    if (response.status === wantedStatus) return text;
    if (mayRefuse(kind, response.status)) return null;
    throw new Error(`${response.status} ${text.slice(0, 200)}`);
  };
  const jsonPost = (body: unknown, headers: Record<string, string>): RequestInit => ({
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });

  const arrive = async (n: number): Promise<Visitor> => {
    const address = `198.51.100.${n + 1}`;
    const answer = await ask(
      'message',
      '/api/chat/sessions',
      jsonPost({ workspace: tenant.slug }, { 'x-forwarded-for': address }),
      201,
    );
    return { address, token: (JSON.parse(answer!) as { token: string }).token };
  };
  await receiver.subscribe(tenant, 'message.received');
  const tool: DefinedTool = await endpoint.define(tenant.api, { name: 'honest_tool' });
  await makeLive(tenant.api, tool);
  const visitors = await Promise.all(Array.from({ length: VISITORS }, (_, n) => arrive(n)));
  const nextVisitor = () => visitors[visits++ % VISITORS]!;
  const arrivals = watchArrivals(receiver);

  /** @returns false when the service refused, as it may */
  const write = async (
    visitor: Visitor,
    delivered: (ms: number) => void = () => {},
  ): Promise<boolean> => {
    const text = `Honest ${randomUUID()}`;
    const startedAt = performance.now();
    const answer = await ask(
      'message',
      '/api/chat/messages',
      jsonPost({ text, client_message_id: text }, bearer(visitor)),
      202,
    );
    if (answer === null) return false;
    const { message_id: id } = JSON.parse(answer) as { message_id: string };
    acknowledged.set(id, { text, visitor });
    void arrivals.of(text).then((at) => delivered(at - startedAt));
    return true;
  };
  await write(visitors[0]!);
  const { conversation_id: conversationId } = JSON.parse(
    (await ask(
      'message',
      '/api/chat/messages',
      jsonPost({ text: 'Hello', client_message_id: 'first' }, bearer(visitors[1]!)),
      202,
    ))!,
  ) as { conversation_id: string };

  /** Each returns false when the service refused, as it may. */
  const acts: Record<RequestKind, (times: Record<Kind, number[]>) => Promise<boolean>> = {
    'health check': async () => (await ask('health check', '/healthz', {}, 200)) !== null,
    message: (times) => write(nextVisitor(), (ms) => void times.delivery.push(ms)),
    'API call': async () =>
      (await ask(
        'API call',
        `/api/conversations/${conversationId}`,
        { headers: { authorization: `Bearer ${tenant.key}` } },
        200,
      )) !== null,
    'tool call': async () => {
      const answer = await ask(
        'tool call',
        `/api/tools/${tool.id}/test`,
        jsonPost({ arguments: {} }, { authorization: `Bearer ${tenant.key}` }),
        200,
      );
      if (answer !== null && (JSON.parse(answer) as { status: string }).status !== 'succeeded')
        throw new Error(answer.slice(0, 300));
      return answer !== null;
    },
    'sign-in': async () => {
      signIns += 1;
      const headers = { 'x-forwarded-for': `192.0.2.${(signIns % 254) + 1}` };
      return (
        (await ask(
          'sign-in',
          '/sign-in',
          { method: 'POST', body: new URLSearchParams(MEMBER), headers },
          303,
        )) !== null
      );
    },
    stream: async () => {
      const visitor = nextVisitor();
      const abort = new AbortController();
      const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(PATIENCE_MS)]);
      const response = await fetch(`${url}/api/chat/stream`, {
        ...LIKE_A_PROXY,
        headers: bearer(visitor),
        signal,
      });
      if (response.status !== 200)
        throw new Error(`${response.status} ${(await response.text()).slice(0, 200)}`);
      await response.body!.getReader().read();
      abort.abort();
      return true;
    },
  };

  return {
    faults,
    async run(until) {
      const times = Object.fromEntries(KINDS.map((kind) => [kind, [] as number[]])) as Record<
        Kind,
        number[]
      >;
      const underWay = new Set<Promise<void>>();
      const act = async (kind: RequestKind) => {
        const startedAt = performance.now();
        try {
          if (await acts[kind](times)) times[kind].push(performance.now() - startedAt);
        } catch (error) {
          const { message, cause } = error as Error;
          faults.push(`${kind}: ${message}${cause === undefined ? '' : ` (${String(cause)})`}`);
        }
      };
      const begin = (kind: RequestKind) => {
        const request: Promise<void> = act(kind).finally(() => underWay.delete(request));
        underWay.add(request);
      };
      const timers = Object.entries(EVERY_MS).map(([kind, everyMs]) =>
        setInterval(() => begin(kind as RequestKind), everyMs),
      );
      try {
        await (typeof until === 'number' ? sleep(until) : until);
      } finally {
        for (const timer of timers) clearInterval(timer);
        await Promise.all(underWay);
      }
      await arrivals.all([...acknowledged.values()].map(({ text }) => text));
      return times;
    },
    write: async () => void (await write(visitors[0]!)),
    async missing() {
      const read = await Promise.all(visitors.map((visitor) => readAll(url, visitor)));
      const stored = new Map(read.flat().map(({ id, text }) => [id, text]));
      return [...acknowledged]
        .filter(([id, { text }]) => stored.get(id) !== text)
        .map(([id]) => id);
    },
    allDelivered: () => arrivals.all([...acknowledged.values()].map(({ text }) => text)),
  };
}

const bearer = ({ token, address }: Visitor) => ({
  authorization: `Bearer ${token}`,
  'x-forwarded-for': address,
});

/** Notes when the deliveries of messages arrive, by the text of the message. */
function watchArrivals(receiver: EventReceiver) {
  const arrivedAt = new Map<string, number>();
  let readCount = 0;
  const readNew = () => {
    for (; readCount < receiver.requests.length; readCount += 1) {
      const { rawBody, receivedAt } = receiver.requests[readCount]!;
      const { message } = JSON.parse(rawBody.toString()) as { message: { text: string } };
      const ageMs = Date.now() - receivedAt.getTime();
      if (!arrivedAt.has(message.text)) arrivedAt.set(message.text, performance.now() - ageMs);
    }
    return arrivedAt;
  };
  return {
    /** @returns NaN when it never arrives: then `all` throws */
    of: (text: string): Promise<number> =>
      waitFor(`the delivery of ${text}`, () => readNew().get(text), {
        timeoutMs: PATIENCE_MS,
        everyMs: 5,
      }).catch(() => Number.NaN),
    async all(texts: readonly string[]): Promise<void> {
      await waitFor(
        `the deliveries of ${texts.length} messages`,
        () => texts.every((text) => readNew().has(text)),
        { timeoutMs: PATIENCE_MS, everyMs: 50 },
      );
    },
  };
}

/** Reads all messages of a visitor's chat. */
async function readAll(url: string, visitor: Visitor): Promise<{ id: string; text: string }[]> {
  const all: { id: string; text: string }[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const response: Response = await fetch(
      `${url}/api/chat/messages?limit=200${cursor && `&cursor=${cursor}`}`,
      { ...LIKE_A_PROXY, headers: bearer(visitor) },
    );
    if (response.status !== 200)
      throw new Error(`The messages cannot be read: ${response.status} ${await response.text()}`);
    const page = (await response.json()) as {
      data: { id: string; text: string }[];
      next_cursor: string | null;
    };
    all.push(...page.data);
    cursor = page.next_cursor;
  }
  return all;
}
