import { randomInt } from 'node:crypto';
import { watch } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { quantile } from '../bench/statistics.ts';
import { apiClient, type ApiClient } from '../helpers/apiClient.ts';
import { randomFrom } from '../helpers/flakyProxy.ts';
import { onEmbeddedStore } from '../helpers/onEmbeddedStore.ts';
import { freePort, startProgram, type Program } from '../helpers/program.ts';
import { NO_LIMITS } from '../helpers/settings.ts';
import {
  sharedTestCa,
  startTlsReceiver,
  writeTlsFiles,
  type ReceivedRequest,
  type TlsFiles,
  type TlsReceiver,
} from '../helpers/tls.ts';
import { waitFor } from '../helpers/waitFor.ts';
import {
  acceptedAt,
  inWords,
  print,
  testOutcome,
  recover,
  settleActors,
  settleDeliveries,
  type Actors,
} from './outcome.ts';
import { DeliveryLedger } from './deliveryLedger.ts';
import { makeWorkspace, type MadeWorkspace } from './makeWorkspace.ts';
import { startWaiters } from './waiters.ts';
import { startWorkflowAgent } from './workflowAgent.ts';
import { startWriters } from './writers.ts';

const ROUNDS = Number(process.env.CHAOS_ROUNDS ?? 200);
const SEED = Number(process.env.CHAOS_SEED ?? randomInt(1_000_000));

/** When a round's kill comes. */
const MOMENTS = [
  'at any time',
  'in the middle of a POST',
  'right after a 2xx',
  'while a snapshot is written',
  'while starting',
] as const;
type Moment = (typeof MOMENTS)[number];

const MAX_ROUND_MS = 1200;
const MAX_WAIT_FOR_MOMENT_MS = 3000;
const MAX_START_MS = 1000;
const REPUBLISH_EVERY = 3;
const ROTATE_EVERY = 40;

const STEADY = '/steady';
const FLAKY = '/flaky';
const REPUBLISHED = '/republished';
const PATHS = [STEADY, FLAKY, REPUBLISHED];

onEmbeddedStore(describe)(`${ROUNDS} rounds of kill -9 under load (seed ${SEED})`, () => {
  const random = randomFrom(SEED);
  const ledger = new DeliveryLedger();
  const killed = new Map<Moment, number>();
  const startTimesMs: number[] = [];
  const hooks: { path: string; event: string; id: string }[] = [];
  let receiver: TlsReceiver;
  let tls: TlsFiles;
  let folder: string;
  let url: string;
  let api: ApiClient;
  let program: Program;
  let actors: Actors;
  let recovered = 0;
  /** Set by a round that kills the service at the next request, before or after its answer. */
  let killAt: { side: 'before' | 'after'; kill: () => void } | null = null;

  const start = () =>
    startProgram({
      name: 'The service',
      script: fileURLToPath(new URL('./eagerService.mjs', import.meta.url)),
      cwd: folder,
      logFile: join(folder, 'service.log'),
      env: {
        HOST: '127.0.0.1',
        PORT: new URL(url).port,
        DATA_DIR: join(folder, 'data'),
        ALLOWED_NETWORKS: '127.0.0.0/8',
        NODE_EXTRA_CA_CERTS: tls.caFile,
        AGENT_QUIET_MS: '50',
        ...NO_LIMITS,
        DELIVERY_RETRY_DELAYS_MS: '100,200,400',
        LOG_LEVEL: 'warn',
      },
    });
  const startAndWait = async () => {
    const begunAt = performance.now();
    program = await start();
    await program.ready(() => fetch(`${url}/readyz`).then(({ ok }) => ok));
    startTimesMs.push(performance.now() - begunAt);
  };

  const newWorkspace = (name: string): Promise<MadeWorkspace> =>
    makeWorkspace({ DATA_DIR: join(folder, 'data') }, name);

  /**
   * Answers as three receivers do: one works, one fails now and then, and one has a workflow that is
   * published again and again.
   */
  const answer = (request: ReceivedRequest, response: ServerResponse) => {
    ledger.note(request);
    if (killAt?.side === 'before') return void killAt.kill();
    // n8n, too, answers 503 while it does not know the secret yet.
    if (!ledger.verifies(request)) return void response.writeHead(503).end('unknown signature');
    if (request.path === FLAKY) {
      const kind = random();
      if (kind < 0.1) return void response.writeHead(500).end('not now');
      if (kind < 0.15) return void response.destroy();
      if (kind < 0.2) return void setTimeout(() => response.writeHead(502).end(), 50);
    }
    ledger.accept(request);
    response.writeHead(200).end('ok');
    if (killAt?.side === 'after') response.once('finish', killAt.kill);
  };

  beforeAll(
    async () => {
      receiver = await startTlsReceiver(answer);
      tls = await writeTlsFiles(await sharedTestCa());
      folder = await mkdtemp(join(tmpdir(), 'conversation-service-chaos-'));
      await mkdir(join(folder, 'data'));
      // The oldest: it gets customers who name no workspace.
      const { key } = await newWorkspace('Chaos');
      const workspace = await newWorkspace('Workflow');
      url = `http://127.0.0.1:${await freePort()}`;
      api = apiClient(url, key);
      await startAndWait();
      for (const path of PATHS)
        for (const event of ['message.received', 'message.sent']) await subscribe(path, event);
      actors = {
        writers: await startWriters([url], key),
        waiters: await startWaiters([url], key, random),
        agent: await startWorkflowAgent([url], workspace, random),
      };

      for (let round = 1; round <= ROUNDS; round += 1) {
        await playRound(round);
        if (round % 20 === 0) print(`round ${round}: ${inWords(actors)}`);
      }
      await settleActors(actors);
      for (const { id } of hooks) recovered += await settleDeliveries(api, id);
      printSummary();
    },
    600_000 + ROUNDS * 10_000,
  );

  afterAll(async () => {
    await program?.kill();
    await actors?.waiters.close();
    await actors?.agent.close();
    await receiver?.close();
    await tls?.remove();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  async function playRound(round: number): Promise<void> {
    const wanted = MOMENTS[Math.floor(random() * MOMENTS.length)]!;
    // These run beside the load through the crash, as calls of n8n would.
    const errands = [
      round % REPUBLISH_EVERY === 0 && republish(),
      round % ROTATE_EVERY === 0 && rotate(),
      recoverPerhaps(0.2),
    ];
    const moment = await killWhen(wanted);
    killed.set(moment, (killed.get(moment) ?? 0) + 1);
    await startAndWait();
    await Promise.all(errands);
  }

  /** @returns the moment of the kill, which is `at any time` when the wanted one never came */
  async function killWhen(wanted: Moment): Promise<Moment> {
    if (wanted === 'while starting') {
      await sleep(random() * MAX_ROUND_MS);
      await program.kill();
      program = await start();
      await sleep(random() * MAX_START_MS);
      await program.kill();
      return wanted;
    }
    if (wanted === 'at any time') {
      await sleep(random() * MAX_ROUND_MS);
      await program.kill();
      return wanted;
    }
    await sleep((random() * MAX_ROUND_MS) / 2);
    const reached =
      wanted === 'while a snapshot is written'
        ? await duringSnapshot()
        : await atRequest(wanted === 'right after a 2xx' ? 'after' : 'before');
    await program.kill();
    return reached ? wanted : 'at any time';
  }

  /**
   * Kills from within the receiver, in the same turn of its event loop. @returns false when no
   * request came
   */
  async function atRequest(side: 'before' | 'after'): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const { pid } = program;
    killAt = {
      side,
      kill() {
        killAt = null;
        process.kill(pid, 'SIGKILL');
        resolve(true);
      },
    };
    const reached = await Promise.race([promise, sleep(MAX_WAIT_FOR_MOMENT_MS, false)]);
    killAt = null;
    return reached;
  }

  async function duringSnapshot(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const { pid } = program;
    const afterMs = random() * 20;
    let timer: NodeJS.Timeout | undefined;
    const watcher = watch(join(folder, 'data'), (_kind, name) => {
      if (!name?.startsWith('snapshot-')) return;
      watcher.close();
      timer = setTimeout(() => {
        process.kill(pid, 'SIGKILL');
        resolve(true);
      }, afterMs);
    });
    const reached = await Promise.race([promise, sleep(MAX_WAIT_FOR_MOMENT_MS, false)]);
    watcher.close();
    clearTimeout(timer); // when the time is over, the caller kills the process
    return reached;
  }

  /**
   * Subscribes, through crashes. A subscription whose answer was lost is removed first, since nobody
   * knows its secret.
   */
  async function subscribe(path: string, event: string): Promise<void> {
    const made = await waitFor('a subscription', async () => {
      const answer = await api.post('/api/hooks', {
        event,
        target_url: receiver.url + path,
        source: 'n8n',
      });
      if (answer.status === 409) await api.delete(`/api/hooks/${answer.body.error.existing_id}`);
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
      return answer.body as { id: string; secret: string };
    });
    ledger.learn(path, made.secret);
    hooks.push({ path, event, id: made.id });
  }

  /** Publishes a workflow again, through crashes: its subscriptions go and come back. */
  async function republish(): Promise<void> {
    for (const hook of hooks.filter(({ path }) => path === REPUBLISHED)) {
      hooks.splice(hooks.indexOf(hook), 1);
      await waitFor('the removal', async () => {
        const { status, body } = await api.delete(`/api/hooks/${hook.id}`);
        if (status !== 200 && status !== 404) throw new Error(JSON.stringify(body));
        return true;
      });
      await sleep(random() * 300);
      await subscribe(hook.path, hook.event);
    }
  }

  async function rotate(): Promise<void> {
    const { id, path } = hooks.find((hook) => hook.path === STEADY)!;
    const { status, body } = await api
      .post(`/api/hooks/${id}/rotate-secret`)
      .catch(() => ({ status: 0, body: null }));
    if (status === 200) ledger.learn(path, body.secret);
  }

  /** Sometimes recovers deliveries under load. The answer may be lost. */
  async function recoverPerhaps(chance: number): Promise<void> {
    if (random() >= chance) return;
    const hook = hooks.find(({ path }) => path === FLAKY)!;
    await sleep(random() * 500);
    await recover(api, hook.id).catch(() => {});
  }

  function printSummary(): void {
    print(
      `${ROUNDS} kills: ${[...killed].map(([moment, count]) => `${count} ${moment}`).join(', ')}`,
      inWords(actors),
      ...PATHS.map((path) => acceptedAt(ledger, path)),
      `${recovered} recovered at the end; start to ready p50 ${quantile(startTimesMs, 0.5).toFixed(0)} ms, longest ${Math.max(...startTimesMs).toFixed(0)} ms`,
    );
  }

  testOutcome(ROUNDS, () => actors, ledger, PATHS);

  it('was killed at every kind of moment, if there were 50 rounds or more', () => {
    if (ROUNDS >= 50) expect([...killed.keys()].sort()).toEqual([...MOMENTS].sort());
  });
});
