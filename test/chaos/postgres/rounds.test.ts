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
import { DeliveryLedger } from '../deliveryLedger.ts';
import { makeWorkspace } from '../makeWorkspace.ts';
import { startWaiters, waitFaults, type Waiters } from '../waiters.ts';
import { startWorkflowAgent, type WorkflowAgent } from '../workflowAgent.ts';
import { startWriters, type Writers } from '../writers.ts';
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
/**
 * A worker that stands still does so for longer than the lease of a delivery: two timeouts and half a
 * minute.
 */
const STILL_MS = 2 * DELIVERY_TIMEOUT_MS + 30_000 + 5_000;
const SETTLED_MS = 300_000;

const STEADY = '/steady';
const FLAKY = '/flaky';
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
  let writers: Writers;
  let waiters: Waiters;
  let greeters: Greeters;
  let agent: WorkflowAgent;
  let recovered = 0;
  /** The worker that stands still now, and when it goes on. */
  let still: { index: number; ended: Promise<void> } | null = null;

  /** As receivers are: one that is well, one that fails now and then. */
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
      [writers, greeters, waiters, agent] = await Promise.all([
        startWriters(urls, cluster.apiKey),
        startGreeters(urls),
        startWaiters(urls, cluster.apiKey, random),
        startWorkflowAgent(urls, workspace, random),
      ]);

      for (let round = 1; round <= ROUNDS; round += 1) {
        // Once in any case: it takes longest, and goes on through the rounds that follow.
        await play(
          round === 1 ? 'a worker that stands still' : KINDS[Math.floor(random() * KINDS.length)]!,
        );
        if (round % 10 === 0)
          print(
            `round ${round}: ${writers.acknowledged.received.size + writers.acknowledged.sent.size} writes acknowledged`,
          );
      }
      await still?.ended;
      await Promise.all([writers, greeters, waiters, agent].map((each) => each.stop()));
      await Promise.all([settle(), waiters.settle(), agent.settle()]);
      tell();
    },
    900_000 + ROUNDS * 30_000,
  );

  afterAll(async () => {
    await still?.ended;
    await server?.resume();
    await Promise.all(
      [writers, greeters, waiters, agent].map((each) => each?.stop().catch(() => {})),
    );
    await waiters?.close();
    await agent?.close();
    await cluster?.stop();
    await receiver?.close();
    await tls?.remove();
    await server?.stop();
  });

  async function subscribe(api: ApiClient): Promise<void> {
    for (const path of [STEADY, FLAKY]) {
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

  /** Stopped in the middle of whatever it does; when it goes on, others have taken over. */
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
   * Waits until no delivery is pending or failed, and recovers those that failed; then until no job is
   * left.
   */
  async function settle(): Promise<void> {
    for (const { api, id } of hooks) {
      const countOf = async (status: string): Promise<number> =>
        (await api.get(`/api/hooks/${id}/deliveries?status=${status}&limit=1`)).body.data.length;
      await waitFor(
        `${id} to have nothing left`,
        async () => {
          if ((await countOf('pending')) > 0) return false;
          if ((await countOf('failed')) === 0) return true;
          recovered += (
            await api.post(`/api/hooks/${id}/recover`, { since: '2020-01-01T00:00:00.000+00:00' })
          ).body.redelivered as number;
          return false;
        },
        { timeoutMs: SETTLED_MS, everyMs: 200 },
      );
    }
    await waitFor('no job to be left', async () => (await jobsLeft()).length === 0, {
      timeoutMs: SETTLED_MS,
      everyMs: 200,
    });
  }

  /** The clean-up has one for ever. */
  const jobsLeft = () =>
    cluster.query<{ id: string }>(
      `SELECT id, queue FROM "${cluster.schema}".jobs WHERE queue <> 'housekeeping'`,
    );
  const print = (...lines: readonly string[]) =>
    process.stdout.write(lines.map((line) => `  ${line}\n`).join(''));
  function tell(): void {
    const { received, sent } = writers.acknowledged;
    print(
      `${ROUNDS} rounds: ${[...played].map(([kind, count]) => `${count} times ${kind}`).join(', ')}`,
      `${received.size} messages and ${sent.size} replies acknowledged, ${writers.repeated} calls repeated; ${greeters.conversations.length} greetings; ${waiters.answered.size} executions went on`,
      agent.ledger.inWords,
      ...[STEADY, FLAKY].map(
        (path) =>
          `${path}: ${ledger.at(path).eventsOf.size} messages in ${ledger.at(path).accepted} accepted deliveries`,
      ),
      `${recovered} recovered at the end`,
    );
  }

  it('was a load, and in 60 rounds or more every kind of blow struck', () => {
    expect(writers.acknowledged.received.size).toBeGreaterThan(ROUNDS);
    expect(writers.acknowledged.sent.size).toBeGreaterThan(ROUNDS);
    if (ROUNDS >= 60) expect([...played.keys()].sort()).toEqual([...KINDS].sort());
  });

  it('let each execution go on with its answer, once', () => {
    expect(waiters.answered.size).toBeGreaterThan(ROUNDS);
    expect(waitFaults(waiters)).toEqual([]);
  });

  it('ended each turn of the workflow once, and sent what fits its conversation', () => {
    expect(agent.ledger.asked.size).toBeGreaterThan(ROUNDS);
    expect(agent.ledger.faults).toEqual([]);
  });

  it('stored each acknowledged write once', async () => {
    const { received, sent } = writers.acknowledged;
    const all = (await writers.readAll()).filter(({ text }) =>
      /^(A question|An answer) /.test(text),
    ); // the rest is the agent's
    const stored = new Map(all.map(({ id, text }) => [id, text]));
    expect(new Set(all.map(({ text }) => text)).size).toBe(all.length);
    const expected = [
      ...[...received].map(([id, key]) => [id, `A question ${key}`] as const),
      ...[...sent].map(([id, key]) => [id, `An answer ${key}`] as const),
    ];
    expect(expected.filter(([id, text]) => stored.get(id) !== text)).toEqual([]);
    expect(all).toHaveLength(expected.length);
  });

  it.each([STEADY, FLAKY])(
    '%s was given every message that is stored, each under one event id',
    async (path) => {
      const { received, sent } = writers.acknowledged;
      const { eventsOf } = ledger.at(path);
      expect([...received.keys(), ...sent.keys()].filter((id) => !eventsOf.has(id))).toEqual([]);
      const stored = await cluster.query<{ id: string }>(
        `SELECT id FROM "${cluster.schema}".messages`,
      );
      expect(stored.filter(({ id }) => !eventsOf.has(id))).toEqual([]);
      expect(eventsOf.size).toBe(stored.length);
      expect([...eventsOf].filter(([, events]) => events.size > 1)).toEqual([]);
    },
  );

  it('every repeat had the same bytes and id', () => {
    expect(ledger.faults).toEqual([]);
  });

  it('has every event on record as delivered to each subscription, once', async () => {
    const rows = await cluster.query<{ status: string; count: number }>(
      `SELECT status, count(*)::int AS count FROM "${cluster.schema}".deliveries GROUP BY status`,
    );
    const stored = await cluster.query(`SELECT id FROM "${cluster.schema}".messages`);
    expect(rows).toEqual([{ status: 'delivered', count: 2 * stored.length }]);
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

  it('logged no failed request, claim or turn, no status 500 and not the password', async () => {
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

/** The variables that name a cluster's store. Nothing is opened with the key. */
const storeOf = ({ databaseUrl, schema, folder }: Cluster) => ({
  DATA_DIR: folder,
  DATABASE_URL: databaseUrl,
  DATABASE_SCHEMA: schema,
  ENCRYPTION_KEY: randomBytes(32).toString('base64'),
});
