// Whether memory and disk are given back under a steady load, when retention drops what is old:
// customers who come, write, get answers and payment links, and go; n8n that publishes again and
// again; one receiver that is broken.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { listenTracked } from '../helpers/trackedServer.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { SETTINGS, startHelper, temporaryFolder } from './children.ts';
import { call, newCustomer, subscribe, write, type Api } from './customers.ts';
import type { SteadyQuestion, SteadyReport } from './steadyService.ts';

const WRITERS = 8;
/** Conversations before the first measurement. They compile most code, which stays in the heap. */
const WARM_UP = 10;
/** The heap is measured several times: a snapshot that is being written holds some MB for a moment. */
const REPORTS_AT_THE_END = 4;
/**
 * How often the agent's instructions are replaced, and their length: enough to fill the journal until
 * a snapshot is written, which keeps only the last ones.
 */
const REPLACEMENTS = 60;
const REPLACED_CHARACTERS = 20_000;
/**
 * Each time the first writer has had this many conversations, the subscriptions are made again, as
 * n8n does each time a workflow is published.
 */
const REPUBLISH_EVERY = 20;
const TEXT = `Hello, ${'I would like to know more. '.repeat(20)}`;

interface SteadyOptions {
  /** How long events, deliveries and conversations are kept; the load goes on for four times as long. */
  readonly keptForMs: number;
  /** The limit of the service's heap. The service ends when it needs more. */
  readonly heapMb: number;
  /** The load also goes on until there have been this many conversations, however slow the machine is. */
  readonly atLeast: number;
  /** The size to which a snapshot must shrink once everything has gone. */
  readonly emptyKb: number;
}

interface Steady {
  readonly conversations: number;
  /** How many were written under the load. */
  readonly snapshots: number;
  /** Once everything has gone. */
  readonly heapAfterMb: number;
  /** Before the load. */
  readonly heapBeforeMb: number;
}

export async function measureSteady({
  keptForMs,
  heapMb,
  atLeast,
  emptyKb,
}: SteadyOptions): Promise<Steady> {
  const helper = startHelper('steadyService.ts', [
    '--expose-gc',
    '--no-flush-bytecode',
    `--max-old-space-size=${heapMb}`,
  ]);
  const ask = <Answer>(question: SteadyQuestion) => helper.ask<Answer>(question);
  const receiver = await listenTracked(
    createServer((request, response) => {
      request.resume();
      request.on('end', () => response.writeHead(request.url === '/bad' ? 500 : 200).end());
    }),
    0,
    '127.0.0.1',
  );
  try {
    const url = await ask<string>({ do: 'start', folder: temporaryFolder(), keptForMs });
    const api = { url, apiKey: SETTINGS.BOOTSTRAP_API_KEY };
    await setUp(api);
    let hooks = await publish(api, receiver.port);
    for (let n = 0; n < WARM_UP; n += 1) await converse(api, keptForMs);
    const before = await ask<SteadyReport>({ do: 'report' });

    let conversations = WARM_UP;
    let isStopped = false;
    const writers = Array.from({ length: WRITERS }, async (_, writer) => {
      for (let n = 1; !isStopped; n += 1) {
        await converse(api, keptForMs);
        conversations += 1;
        if (writer === 0 && n % REPUBLISH_EVERY === 0)
          hooks = await publish(api, receiver.port, hooks);
      }
    });
    const running = Promise.all(writers);
    running.catch(() => {}); // thrown below
    await Promise.race([running, sleep(4 * keptForMs)]);
    while (conversations < atLeast) await Promise.race([running, sleep(100)]);
    isStopped = true;
    await running;
    await waitFor('every conversation to go', () => isNothingLeft(api), { timeoutMs: 60_000 });
    const after: SteadyReport[] = [];
    for (let n = 0; n < REPORTS_AT_THE_END; n += 1) {
      await sleep(keptForMs / REPORTS_AT_THE_END); // until retention has dropped what was sent last
      after.push(await ask<SteadyReport>({ do: 'report' }));
    }
    const { generation } = after.at(-1)!;
    await waitFor(
      'a snapshot without what has gone',
      async () => {
        await fillJournal(api);
        const now = await ask<SteadyReport>({ do: 'report' });
        return now.generation > generation && now.snapshotBytes / 1024 <= emptyKb;
      },
      { timeoutMs: 60_000 },
    );
    await ask({ do: 'stop' });
    return {
      conversations,
      snapshots: generation - before.generation,
      heapAfterMb: Math.min(...after.map((report) => report.heapMb)),
      heapBeforeMb: before.heapMb,
    };
  } finally {
    await receiver.close();
    await helper.stop();
  }
}

async function setUp(api: Api): Promise<void> {
  await call(api, 'PUT', '/api/payment-accounts/manual', {
    settings: { instructions: 'By bank.' },
  });
  await call(api, 'PATCH', '/api/agent', { enabled: true });
}

/** Makes new subscriptions in place of the old ones. @returns their ids */
async function publish(api: Api, port: number, old: readonly string[] = []): Promise<string[]> {
  for (const hook of old) await call(api, 'DELETE', `/api/hooks/${hook}`);
  const receiver = `http://127.0.0.1:${port}`;
  return [
    await subscribe(api, 'message.received', `${receiver}/ok`),
    await subscribe(api, 'message.sent', `${receiver}/bad`),
    await subscribe(api, 'conversation.closed', `${receiver}/ok`),
  ];
}

async function fillJournal(api: Api): Promise<void> {
  for (let n = 0; n < REPLACEMENTS; n += 1)
    await call(api, 'PATCH', '/api/agent', {
      instructions: String(n).padEnd(REPLACED_CHARACTERS, 'x'),
    });
}

/**
 * On a slow machine retention can remove a conversation before it is closed. The conversation counts
 * all the same.
 */
async function converse(api: Api, keptForMs: number): Promise<void> {
  const begunAt = performance.now();
  await talk(api).catch((error: Error) => {
    const isGone = / answered 40[14]:/.test(error.message);
    if (!isGone || performance.now() - begunAt < keptForMs) throw error;
  });
}

async function talk(api: Api): Promise<void> {
  const customer = await newCustomer(api);
  const id = await write(api, customer, TEXT);
  await write(api, customer, TEXT);
  await call(api, 'POST', `/api/conversations/${id}/messages`, { text: 'An answer.' });
  const link = await call<{ id: string }>(api, 'POST', `/api/conversations/${id}/payment-links`, {
    amount: 100,
    currency: 'usd',
    description: 'A demo',
  });
  await call(api, 'POST', `/api/payment-links/${link.id}/cancel`, {});
  await call(api, 'POST', `/api/conversations/${id}/close`, {
    summary: 'Done.',
    verdict: 'goal_reached',
  });
}

const isNothingLeft = async (api: Api) =>
  (await call<{ data: unknown[] }>(api, 'GET', '/api/conversations')).data.length === 0;
