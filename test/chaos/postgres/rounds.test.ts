import { randomBytes, randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient, type ApiClient } from '../../helpers/apiClient.ts';
import { startCluster, type Cluster } from '../../helpers/cluster.ts';
import { randomFrom } from '../../helpers/flakyProxy.ts';
import {
  sharedTestCa,
  startTlsReceiver,
  writeTlsFiles,
  type ReceivedRequest,
  type TlsFiles,
  type TlsReceiver,
} from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { startPostgres, type PostgresServer } from '../../postgres/server.ts';
import {
  acceptedAt,
  inWords,
  print,
  testOutcome,
  settleActors,
  settleDeliveries,
  type Actors,
} from '../outcome.ts';
import { DeliveryLedger } from '../deliveryLedger.ts';
import { makeWorkspace } from '../makeWorkspace.ts';
import { startWaiters } from '../waiters.ts';
import { startWorkflowAgent } from '../workflowAgent.ts';
import { startWriters } from '../writers.ts';
import { startGreeters, type Greeters } from './greeters.ts';

const ROUNDS = Number(process.env.CHAOS_ROUNDS ?? 40);
const SEED = Number(process.env.CHAOS_SEED ?? randomInt(1_000_000));

const KINDS = [
  'kill -9 of a worker',
  'kill -9 of an API process',
  'kill -9 of both',
  'restart of PostgreSQL',
  'crash of PostgreSQL',
  'all connections cut',
  'a worker that stands still',
] as const;
type Kind = (typeof KINDS)[number];

const APIS = [0, 1];
const WORKERS = [2, 3];
const MAX_ROUND_MS = 1500;
const DELIVERY_TIMEOUT_MS = 1000;
/** Longer than the lease of a delivery, which is two timeouts and half a minute. */
const STILL_MS = 2 * DELIVERY_TIMEOUT_MS + 30_000 + 5_000;
const SETTLED_MS = 300_000;

const FLAKY = '/flaky';
const PATHS = ['/steady', FLAKY];
const EVENTS = ['message.received', 'message.sent'];

describe(`${ROUNDS} rounds of chaos on PostgreSQL under load (seed ${SEED})`, () => {
  const random = randomFrom(SEED);
  const ledger = new DeliveryLedger();
  const played = new Map<Kind, number>();
  const hooks: { api: ApiClient; path: string; id: string }[] = [];
  let server: PostgresServer;
  let receiver: TlsReceiver;
  let tls: TlsFiles;
  let cluster: Cluster;
  let actors: Actors;
  let greeters: Greeters;
  let recovered = 0;
  /** The worker that stands still now, and when it goes on. */
  let still: { index: number; ended: Promise<void> } | null = null;

  /** Answers as two receivers do: one works, one fails now and then. */
  const answer = (request: ReceivedRequest, response: ServerResponse) => {
    ledger.note(request);
    if (!ledger.verifies(request)) return void response.writeHead(503).end('unknown signature');
    if (request.path === FLAKY) {
      const kind = random();
      if (kind < 0.1) return void response.writeHead(500).end('not now');
      if (kind < 0.15) return void response.destroy();
    }
    ledger.accept(request);
    response.writeHead(200).end('ok');
  };

  beforeAll(
    async () => {
      server = await startPostgres({ fsync: false });
      receiver = await startTlsReceiver(answer);
      tls = await writeTlsFiles(await sharedTestCa());
      cluster = await startCluster(['api', 'api', 'worker', 'worker'], {
        databaseUrl: server.url,
        caFile: tls.caFile,
        env: {
          DELIVERY_RETRY_DELAYS_MS: '100,200,400',
          DELIVERY_TIMEOUT_MS: String(DELIVERY_TIMEOUT_MS),
          AGENT_QUIET_MS: '100',
          LOG_LEVEL: 'warn',
        },
      });
      const { api } = cluster.processes[0]!;
      expect((await api.patch('/api/agent', { enabled: true })).status).toBe(200);
      const workspace = await makeWorkspace(storeOf(cluster), 'Workflow');
      await subscribe(api);
      await subscribe(apiClient(cluster.processes[0]!.url, workspace.key));
      const urls = APIS.map((index) => cluster.processes[index]!.url);
      greeters = await startGreeters(urls);
      actors = {
        writers: await startWriters(urls, cluster.apiKey),
        waiters: await startWaiters(urls, cluster.apiKey, random),
        agent: await startWorkflowAgent(urls, workspace, random),
      };

      for (let round = 1; round <= ROUNDS; round += 1) {
        // A worker stands still at least once. It does so first, since that lasts for many rounds.
        await play(
          round === 1 ? 'a worker that stands still' : KINDS[Math.floor(random() * KINDS.length)]!,
        );
        if (round % 10 === 0) print(`round ${round}: ${inWords(actors)}`);
      }
      await still?.ended;
      await Promise.all([greeters.stop(), settleActors(actors)]);
      await settle();
      printSummary();
    },
    900_000 + ROUNDS * 30_000,
  );

  afterAll(async () => {
    await still?.ended;
    await server?.resume();
    const all = [greeters, actors?.writers, actors?.waiters, actors?.agent];
    await Promise.all(all.map((each) => each?.stop().catch(() => {})));
    await actors?.waiters.close();
    await actors?.agent.close();
    await cluster?.stop();
    await receiver?.close();
    await tls?.remove();
    await server?.stop();
  });

  async function subscribe(api: ApiClient): Promise<void> {
    for (const path of PATHS) {
      for (const event of EVENTS) {
        const { body } = await api.post('/api/hooks', {
          event,
          target_url: receiver.url + path,
          source: 'n8n',
        });
        ledger.learn(path, body.secret);
        hooks.push({ api, path, id: body.id });
      }
    }
  }

  async function play(wanted: Kind): Promise<void> {
    await sleep(random() * MAX_ROUND_MS);
    const kind =
      wanted === 'a worker that stands still' && still !== null ? 'all connections cut' : wanted;
    played.set(kind, (played.get(kind) ?? 0) + 1);
    const worker = pick(WORKERS.filter((index) => index !== still?.index));
    const api = pick(APIS);
    switch (kind) {
      case 'kill -9 of a worker':
        return killAndStart([worker]);
      case 'kill -9 of an API process':
        return killAndStart([api]);
      case 'kill -9 of both':
        return killAndStart([worker, api]);
      case 'restart of PostgreSQL':
        return restartServer('fast');
      case 'crash of PostgreSQL':
        return restartServer('immediate');
      case 'all connections cut':
        expect(await server.cutConnections()).toBeGreaterThan(0);
        return waitUntilReady();
      case 'a worker that stands still':
        return holdStill(worker);
    }
  }

  const pick = (indexes: readonly number[]): number =>
    indexes[Math.floor(random() * indexes.length)]!;

  async function killAndStart(indexes: readonly number[]): Promise<void> {
    await Promise.all(indexes.map((index) => cluster.kill(index)));
    await sleep(random() * 300);
    await Promise.all(indexes.map((index) => cluster.restart(index)));
  }

  async function restartServer(how: 'fast' | 'immediate'): Promise<void> {
    await server.pause(how);
    await sleep(random() * 1000);
    await server.resume();
    await waitUntilReady();
  }

  /** Stops a worker in the middle of its work. When it goes on, others have taken that over. */
  function holdStill(index: number): void {
    const { pid } = cluster.processes[index]!;
    process.kill(pid, 'SIGSTOP');
    const ended = sleep(STILL_MS).then(() => {
      process.kill(pid, 'SIGCONT');
      still = null;
    });
    still = { index, ended };
  }

  const waitUntilReady = async (): Promise<void> => {
    for (const [index, { url }] of cluster.processes.entries()) {
      if (index === still?.index) continue;
      await waitFor(`${url} to be ready`, () => fetch(`${url}/readyz`).then(({ ok }) => ok), {
        timeoutMs: 120_000,
      });
    }
  };

  /**
   * Recovers failed deliveries until none is pending or failed, then waits until no job is left.
   */
  async function settle(): Promise<void> {
    for (const { api, id } of hooks) recovered += await settleDeliveries(api, id);
    await waitFor('no job to be left', async () => (await jobsLeft()).length === 0, {
      timeoutMs: SETTLED_MS,
      everyMs: 200,
    });
  }

  /** The jobs that are left, without the clean-up's job, which is always there. */
  const jobsLeft = () =>
    cluster.query<{ id: string }>(
      `SELECT id, queue FROM "${cluster.schema}".jobs WHERE queue <> 'housekeeping'`,
    );

  function printSummary(): void {
    print(
      `${ROUNDS} rounds: ${[...played].map(([kind, count]) => `${count} times ${kind}`).join(', ')}`,
      inWords(actors),
      `${greeters.conversations.length} greetings`,
      ...PATHS.map((path) => acceptedAt(ledger, path)),
      `${recovered} recovered at the end`,
    );
  }

  testOutcome(ROUNDS, () => actors, ledger, PATHS);

  it('had every kind of failure, if there were 60 rounds or more', () => {
    if (ROUNDS >= 60) expect([...played.keys()].sort()).toEqual([...KINDS].sort());
  });

  it.each(PATHS)('%s was given every message that is stored', async (path) => {
    const stored = await cluster.query<{ id: string }>(
      `SELECT id FROM "${cluster.schema}".messages`,
    );
    const given = [...ledger.at(path).eventsOf.keys()];
    expect(given.sort()).toEqual(stored.map(({ id }) => id).sort());
  });

  it('has every event on record as delivered to each subscription, once', async () => {
    const rows = await cluster.query<{ status: string; count: number }>(
      `SELECT status, count(*)::int AS count FROM "${cluster.schema}".deliveries GROUP BY status`,
    );
    const stored = await cluster.query(`SELECT id FROM "${cluster.schema}".messages`);
    expect(rows).toEqual([{ status: 'delivered', count: PATHS.length * stored.length }]);
  });

  it('had every greeting answered by the agent, once', async () => {
    const { api } = cluster.processes[1]!;
    expect(greeters.conversations.length).toBeGreaterThan(ROUNDS);
    for (const id of greeters.conversations) {
      const { body } = await api.get(`/api/conversations/${id}?messages=200`);
      const messages = body.messages as { sender: { type: string } }[];
      expect([id, body.status, messages.map(({ sender }) => sender.type)]).toEqual([
        id,
        'ai_active',
        ['customer', 'agent'],
      ]);
    }
  });

  it('logged no failed request, claim or turn, no status 500, and no password', async () => {
    const { password } = new URL(server.url);
    for (const { logFile } of cluster.processes) {
      const log = await readFile(logFile, 'utf8');
      expect(log).not.toContain(password);
      expect(
        log
          .split('\n')
          .filter((line) =>
            /"msg":"(request failed|jobs could not be claimed[^"]*|an agent turn failed|a workflow's turn failed)"/.test(
              line,
            ),
          ),
      ).toEqual([]);
      expect(log).not.toMatch(/"status":500/);
    }
  });
});

/** The variables that name a cluster's store. Nothing encrypted is read, so any key will do. */
const storeOf = ({ databaseUrl, schema, folder }: Cluster) => ({
  DATA_DIR: folder,
  DATABASE_URL: databaseUrl,
  DATABASE_SCHEMA: schema,
  ENCRYPTION_KEY: randomBytes(32).toString('base64'),
});
