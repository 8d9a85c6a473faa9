// A cluster on a server of its own, a receiver, and customers who write whatever happens.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { Role } from '../../../service/src/app/config.ts';
import { apiClient, chatCustomer, readWholeChat, type ApiAnswer } from '../../helpers/apiClient.ts';
import { startCluster, type Cluster } from '../../helpers/cluster.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import type { ReceiverHandler } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { startPostgres, type PostgresServer, type PostgresServerOptions } from '../server.ts';

const CUSTOMERS = 6;

export interface OutageStage {
  readonly server: PostgresServer;
  readonly cluster: Cluster;
  readonly receiver: EventReceiver;
  /**
   * Customers who write at the first process until they are stopped, at the latest with the stage.
   * More than twenty messages are acknowledged when this resolves.
   */
  startWriters(pauseMs?: number): Promise<SteadyWriters>;
  close(): Promise<void>;
}

interface StageOptions {
  readonly roles: readonly Role[];
  readonly postgres?: PostgresServerOptions;
  /** Stands between the service and the server. @returns the address that the service is given */
  readonly through?: (url: string) => Promise<string>;
  readonly answer?: ReceiverHandler;
  readonly env?: Readonly<Record<string, string>>;
}

/** Processes of these roles, with a subscription of `message.received`. */
export async function openOutageStage({
  roles,
  postgres,
  through,
  answer,
  env,
}: StageOptions): Promise<OutageStage> {
  const server = await startPostgres({ fsync: false, ...postgres });
  let receiver: EventReceiver | undefined;
  let cluster: Cluster | undefined;
  const writers: SteadyWriters[] = [];
  const close = async () => {
    try {
      await server.resume();
    } finally {
      await Promise.all(writers.map((each) => each.stop()));
      await cluster?.stop();
      await receiver?.close();
      await server.stop();
    }
  };
  try {
    receiver = await startEventReceiver(answer);
    const databaseUrl = through === undefined ? server.url : await through(server.url);
    cluster = await startCluster(roles, {
      databaseUrl,
      env: { LOG_LEVEL: 'warn', ...env },
    });
    await receiver.subscribe({ api: cluster.processes[0]!.api }, 'message.received');
    const { url } = cluster.processes[0]!;
    return {
      server,
      cluster,
      receiver,
      async startWriters(pauseMs) {
        const started = await startSteadyWriters(url, pauseMs);
        writers.push(started);
        await waitFor('some messages', () => started.acknowledged.size > 20);
        return started;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The answer to one write. `network`: none came. */
type WriteAnswer =
  | { readonly status: number; readonly answer: ApiAnswer }
  | { readonly status: 'network' };

interface SteadyWriters {
  /** Texts by the id of the message that acknowledged them. */
  readonly acknowledged: ReadonlyMap<string, string>;
  readonly answers: readonly WriteAnswer[];
  stop(): Promise<void>;
  /** All stored messages of these customers. */
  readAll(url: string): Promise<{ id: string; text: string }[]>;
}

/**
 * Customers who write one message after the other, each text once; a refused one is not repeated.
 */
async function startSteadyWriters(url: string, pauseMs = 20): Promise<SteadyWriters> {
  const acknowledged = new Map<string, string>();
  const answers: WriteAnswer[] = [];
  let stopping = false;
  const all = await Promise.all(Array.from({ length: CUSTOMERS }, () => chatCustomer(url)));
  const write = async (each: (typeof all)[number]) => {
    const text = `Message ${randomUUID()}`;
    try {
      const answer = await each.api.post('/api/chat/messages', {
        text,
        client_message_id: randomUUID(),
      });
      answers.push({ status: answer.status, answer });
      if (answer.status === 202) acknowledged.set(answer.body.message_id as string, text);
    } catch {
      answers.push({ status: 'network' });
    }
  };
  const running = Promise.all(
    all.map(async (each) => {
      while (!stopping) {
        await write(each);
        await sleep(pauseMs);
      }
    }),
  );
  return {
    acknowledged,
    answers,
    async stop() {
      stopping = true;
      await running;
    },
    async readAll(from) {
      const chats = all.map(({ token }) =>
        waitFor('the messages of a customer', () => readWholeChat(apiClient(from, token))),
      );
      return (await Promise.all(chats)).flat();
    },
  };
}

/** What /readyz says. */
export async function readiness(url: string): Promise<{ status: number; problems: string }> {
  const response = await fetch(`${url}/readyz`);
  const { problems = [] } = (await response.json()) as { problems?: string[] };
  return { status: response.status, problems: problems.join(' ') };
}

export const waitUntilReady = ({ processes }: Cluster): Promise<unknown> =>
  Promise.all(
    processes.map(({ url }) =>
      waitFor(`${url} to be ready`, async () => (await readiness(url)).status === 200),
    ),
  );

/**
 * The customers go on writing, have had no answers but these all the time, and lose nothing that was
 * acknowledged.
 */
export async function expectRecovery(
  writers: SteadyWriters,
  stage: OutageStage,
  statuses: readonly number[],
): Promise<void> {
  const before = writers.acknowledged.size;
  await waitFor('writes to go on', () => writers.acknowledged.size > before + 10);
  await writers.stop();
  expect([...new Set(writers.answers.map(({ status }) => status))].sort()).toEqual(statuses);
  expect(await faultsOf(writers, stage)).toEqual([]);
}

/**
 * Checks that every acknowledged message is stored once and was delivered under one event id.
 * @returns what is wrong, in words
 */
async function faultsOf(
  { acknowledged, readAll }: SteadyWriters,
  { cluster, receiver }: OutageStage,
): Promise<string[]> {
  const stored = await readAll(cluster.processes[0]!.url);
  const byId = new Map(stored.map(({ id, text }) => [id, text]));
  const wrong = [...acknowledged]
    .filter(([id, text]) => byId.get(id) !== text)
    .map(([id]) => `${id} is not stored`);
  if (new Set(stored.map(({ text }) => text)).size !== stored.length)
    wrong.push('a message is stored twice');
  const eventsOf = () => {
    const events = new Map<string, Set<string>>();
    for (const { id, message } of receiver.payloads('message.received'))
      events.set(message.id as string, (events.get(message.id) ?? new Set()).add(id));
    return events;
  };
  await waitFor(
    'every stored message to be delivered',
    () => [...byId.keys()].every((id) => eventsOf().has(id)),
    { everyMs: 200 },
  ).catch((error: Error) => wrong.push(error.message));
  for (const [id, events] of eventsOf())
    if (events.size > 1) wrong.push(`${id} went out as ${events.size} events`);
  return [...wrong, ...receiver.faults];
}
