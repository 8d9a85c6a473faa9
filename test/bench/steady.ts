/**
 * Whether memory and disk level off under a steady load, when retention really drops what is old.
 * `node test/bench/steady.ts` runs for two minutes, with things that live for eight seconds.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startHelper, temporaryFolder, type Helper } from './children.ts';
import type { SteadyQuestion, SteadyReport } from './steadyService.ts';

const WRITERS = 8;
/** Conversations until most code is compiled, which stays in the heap. */
const WARM_UP = 10;
/** A snapshot that is being written holds some MB for a moment. */
const LOOKS_AT_THE_END = 4;
const API_KEY = `cs_live_${'S'.repeat(32)}`;
/**
 * After so many conversations of a writer, the subscriptions are made anew, as n8n does with each
 * publishing.
 */
const REPUBLISH_EVERY = 20;

export interface SteadyOptions {
  readonly seconds?: number;
  /** How long events, deliveries and conversations are kept. */
  readonly keptForMs?: number;
  /**
   * How often is looked, an even number; each look collects all garbage and holds the service up
   * for a tenth of a second.
   */
  readonly samples?: number;
  /** The heap of the service; it ends when that is not enough. */
  readonly heapMb?: number;
  /** The load goes on until there were so many, however slow the machine is. */
  readonly atLeast?: number;
}

export interface Steady {
  readonly conversations: number;
  readonly requests: number;
  readonly snapshots: number;
  /**
   * The most in the second half of the time, divided by the most in the first half, both after
   * things have begun to go.
   */
  readonly heapGrowth: number;
  readonly diskGrowth: number;
  readonly mostHeapMb: number;
  readonly mostDiskMb: number;
  /**
   * Of the heap, once nobody writes any more and everything has gone; and before the first write.
   */
  readonly heapAfterMb: number;
  readonly heapBeforeMb: number;
}

/** Writes steadily for some time, and samples what the service takes. */
export async function measureSteady({
  seconds = 120,
  keptForMs = 8000,
  samples: count = 24,
  heapMb = 128,
  atLeast = 0,
}: SteadyOptions = {}): Promise<Steady> {
  const helper = startHelper('steadyService.ts', [
    '--expose-gc',
    '--no-flush-bytecode',
    `--max-old-space-size=${heapMb}`,
  ]);
  const receiver = await startReceiver();
  const ask = <Answer>(question: SteadyQuestion) => helper.ask<Answer>(question);
  try {
    const url = await ask<string>({
      do: 'start',
      folder: temporaryFolder(),
      apiKey: API_KEY,
      keptForMs,
    });
    const load = new Load(url, receiver.url, keptForMs);
    for (let n = 0; n < WARM_UP; n += 1) await load.converse(); // what is made once is made
    const before = await ask<SteadyReport>({ do: 'report' });

    const running = load.run();
    running.catch(() => {}); // thrown below
    await sleep(2 * keptForMs); // things have begun to go
    const samples = await sample(helper, seconds, count);
    while (load.conversations < atLeast) await Promise.race([running, sleep(100)]);
    load.stop();
    await running;
    while (await load.isSomethingLeft()) await sleep(100);
    const after = await sample(helper, keptForMs / 1000, LOOKS_AT_THE_END); // what was sent last goes too
    await ask({ do: 'stop' });
    return figures(load, before, samples, after);
  } finally {
    receiver.close();
    await helper.stop();
  }
}

function figures(
  { conversations, requests }: Load,
  before: SteadyReport,
  samples: readonly SteadyReport[],
  after: readonly SteadyReport[],
): Steady {
  const half = (part: 0 | 1) =>
    samples.slice((part * samples.length) / 2, ((part + 1) * samples.length) / 2);
  const most = (of: readonly SteadyReport[], name: 'heapBytes' | 'diskBytes') =>
    of.reduce((a, each) => Math.max(a, each[name]), 0);
  const mb = (bytes: number) => bytes / 2 ** 20;
  return {
    conversations,
    requests,
    snapshots: after.at(-1)!.generation - before.generation,
    heapGrowth: most(half(1), 'heapBytes') / most(half(0), 'heapBytes'),
    diskGrowth: most(half(1), 'diskBytes') / most(half(0), 'diskBytes'),
    mostHeapMb: mb(most(samples, 'heapBytes')),
    mostDiskMb: mb(most(samples, 'diskBytes')),
    heapAfterMb: mb(Math.min(...after.map(({ heapBytes }) => heapBytes))),
    heapBeforeMb: mb(before.heapBytes),
  };
}

async function sample(helper: Helper, seconds: number, count: number): Promise<SteadyReport[]> {
  const samples: SteadyReport[] = [];
  for (let n = 0; n < count; n += 1) {
    await sleep((seconds * 1000) / count);
    samples.push(await helper.ask<SteadyReport>({ do: 'report' } satisfies SteadyQuestion));
  }
  return samples;
}

/** Answers 200, at `/bad` 500. */
async function startReceiver(): Promise<{ url: string; close(): void }> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(request.url === '/bad' ? 500 : 200).end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => void server.close().closeAllConnections(),
  };
}

/** What a call is about is not there, or not any more. */
class Gone extends Error {}

/**
 * Customers who come, write, get answers and payment links, and go; n8n that publishes again and
 * again; one receiver that is broken.
 */
class Load {
  conversations = 0;
  readonly #keptForMs: number;
  requests = 0;
  readonly #url: string;
  readonly #receiver: string;
  #isStopped = false;
  #hooks: string[] | null = null;

  constructor(url: string, receiver: string, keptForMs: number) {
    this.#keptForMs = keptForMs;
    this.#url = url;
    this.#receiver = receiver;
  }

  async run(): Promise<void> {
    await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        for (let n = 1; !this.#isStopped; n += 1) {
          await this.converse();
          if (writer === 0 && n % REPUBLISH_EVERY === 0) await this.#publish();
        }
      }),
    );
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** A conversation. On a slow machine it can be gone before its end, which is an end as well. */
  async converse(): Promise<void> {
    if (this.#hooks === null) await this.#setUp();
    const begunAt = performance.now();
    await this.#talk().catch((error: unknown) => {
      const isOld = performance.now() - begunAt > this.#keptForMs;
      if (!(isOld && error instanceof Gone)) throw error;
    });
    this.conversations += 1;
  }

  async isSomethingLeft(): Promise<boolean> {
    const { data } = await this.#call<{ data: unknown[] }>('GET', '/api/conversations');
    return data.length > 0;
  }

  async #talk(): Promise<void> {
    const { token } = await this.#call<{ token: string }>('POST', '/api/chat/sessions', {
      name: 'Ana',
      email: `${randomUUID()}@example.com`,
    });
    const write = () =>
      this.#call<{ conversation_id: string }>(
        'POST',
        '/api/chat/messages',
        {
          text: `Hello, ${'I would like to know more. '.repeat(20)}`,
          client_message_id: randomUUID(),
        },
        token,
      );
    const { conversation_id: id } = await write();
    await write();
    await this.#call('POST', `/api/conversations/${id}/messages`, { text: 'An answer.' });
    const { id: link } = await this.#call<{ id: string }>(
      'POST',
      `/api/conversations/${id}/payment-links`,
      { amount: 100, currency: 'usd', description: 'A demo' },
    );
    await this.#call('POST', `/api/payment-links/${link}/cancel`, {});
    await this.#call('POST', `/api/conversations/${id}/close`, {
      summary: 'Done.',
      verdict: 'goal_reached',
    });
  }

  async #setUp(): Promise<void> {
    this.#hooks = [];
    await this.#call('PUT', '/api/payment-accounts/manual', {
      settings: { instructions: 'By bank.' },
    });
    await this.#call('PATCH', '/api/agent', { enabled: true });
    await this.#publish();
  }

  async #publish(): Promise<void> {
    const targets = [
      ['message.received', '/ok'],
      ['message.sent', '/bad'],
      ['conversation.closed', '/ok'],
    ] as const;
    for (const hook of this.#hooks ?? []) await this.#call('DELETE', `/api/hooks/${hook}`);
    this.#hooks = [];
    for (const [event, path] of targets) {
      this.#hooks.push(
        (
          await this.#call<{ id: string }>('POST', '/api/hooks', {
            event,
            target_url: this.#receiver + path,
            source: 'bench',
          })
        ).id,
      );
    }
  }

  async #call<Answer>(
    method: string,
    path: string,
    body?: unknown,
    token = API_KEY,
  ): Promise<Answer> {
    const response = await fetch(this.#url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    this.requests += 1;
    if (!response.ok) {
      const ErrorType = response.status === 404 || response.status === 401 ? Gone : Error;
      throw new ErrorType(
        `${method} ${path} answered ${response.status}: ${await response.text()}`,
      );
    }
    return (await response.json()) as Answer;
  }
}

if (import.meta.main) {
  console.log(await measureSteady());
  process.exit();
}
