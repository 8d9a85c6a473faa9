import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Logger, pino } from 'pino';
import type { AgentModel } from '../agent/agentModel.ts';
import { createKeywordAgent } from '../agent/keyword/keywordAgent.ts';
import { createOpenAiModel } from '../agent/openai/openaiModel.ts';
import { messaging } from '../channels/messaging.ts';
import { releaseConversationsOf } from '../conversations/index.ts';
import { reactionsOf } from './reactions.ts';
import { bootstrap, oneTimeSetup } from './bootstrap.ts';
import type { Config } from './config.ts';
import { checkTargetUrlWith } from '../platform/http/checkTargetUrl.ts';
import { type SteadyClock, systemClock } from '../platform/clock.ts';
import { collections, workspaceOf } from './collections.ts';
import type { ServiceStore } from '../store/collections.ts';
import { openSecretBox } from './encryption/openSecretBox.ts';
import type { Retention } from './retention/housekeeping.ts';
import { WORK_QUEUES } from './workQueues.ts';
import { createApp, createWorkerApp } from './createApp.ts';
import {
  closeUnusedConnections,
  createBoundedServer,
  SERVER_LIMITS,
  type ServerLimits,
} from '../platform/http/server/server.ts';
import { type ChatFeed, followChats } from '../channels/web_chat/chatFeed.ts';
import { ConnectionShares } from '../platform/limits/connectionShares.ts';
import { followDocuments } from '../platform/http/followDocuments.ts';
import { followPayments } from '../payments/followPayments.ts';
import { followToolCalls } from '../tools/followToolCalls.ts';
import { type Bounds, createBounds } from '../platform/limits/bounds.ts';
import { pressureInWords, roomAssertion } from '../platform/limits/room.ts';
import { openLimiters } from '../platform/limits/postgresLimiters.ts';
import { createMetrics } from './serviceMetrics.ts';
import { createOutboundClient } from '../platform/outbound/outboundClient.ts';
import { followWorkspaces } from './screens/liveFeed.ts';
import { PasswordThreads } from '../platform/security/passwords.ts';
import { LogOutput } from './logOutput.ts';
import { openN8nSetting, type N8nSetting } from '../team/n8nSetting.ts';
import type { LowdbOptions } from '../store/lowdb/index.ts';
import { openStore } from '../store/openStore.ts';
import { type StartedWork, startWork } from './startWork.ts';
import type { WorkDeps } from '../platform/jobs/worker.ts';
import { isDoneWithin, StopTogether } from '../platform/jobs/stopTogether.ts';

export interface Service {
  /** The address it listens on: `http://127.0.0.1:3000`. */
  readonly url: string;
  /** PUBLIC_URL, or this machine's address when it is not set. */
  readonly publicUrl: string;
  /** The one-time link of the first start; null when the service is set up. */
  readonly setupUrl: string | null;
  /**
   * Accepts no more requests and work, finishes what is in flight and closes the store. Takes at
   * most DELIVERY_TIMEOUT_MS (at least 10 s) plus 14 s.
   * @see docs/decisions/0021-a-stop-is-bounded.md
   */
  stop(): Promise<void>;
}

/** What tests and benchmarks replace. */
export interface StartOptions {
  readonly clock?: SteadyClock;
  /** Replaces the database's clock; milliseconds since the epoch. */
  readonly databaseNow?: () => number;
  readonly log?: Logger;
  /** A CA (PEM) that outbound calls trust in addition to the system's. */
  readonly ca?: string;
  /** Settings of the embedded store: early snapshots, file operations that fail. */
  readonly store?: Partial<Omit<LowdbOptions, 'folder' | 'log'>>;
  readonly housekeepingEveryMs?: number;
  /** Fractions of days, so that data expires during a test. */
  readonly retention?: Retention;
  readonly server?: Partial<ServerLimits>;
  /** Called when this process can never use the store again and must end. */
  readonly onStoreLost?: (error: Error) => void;
  /** Replaces how long a request waits for a payment page. */
  readonly paymentWait?: (ms: number) => number;
  /** The script of the threads that hash passwords. */
  readonly passwordThread?: URL;
}

/** How long requests and calls in flight may take to finish when the service stops. */
const DRAIN_MS = 10_000;
/** How long the service then waits until their results are recorded. */
const RECORD_MS = 4_000;
/** How long it then waits for the disk to flush and for connections to close. */
const FLUSH_MS = 5_000;
const SWEEP_MS = 50;

/**
 * Starts the service: opens the store, sets up an empty one, starts the background work, listens.
 * When a step fails, the steps before it are undone in reverse order.
 */
export async function startService(config: Config, options: StartOptions = {}): Promise<Service> {
  await using started = new AsyncDisposableStack();
  const core = await openCore(started, config, options);
  const setupToken = await bootstrap(core.deps, config);

  const parts = started.adopt(new StopTogether(), (running) =>
    running.stop(Math.max(config.deliveryTimeoutMs, DRAIN_MS) + RECORD_MS, core.log),
  );
  const stopping = new AbortController();
  const n8n = await openN8nSetting({ ...core, fromEnvironment: config.n8nUrl }, stopping.signal);
  const chatFeed = config.role === 'worker' ? NO_CHATS : followChats(core.store, stopping.signal);
  const work = await startBackgroundWork(core, parts, chatFeed, options);
  const server = createServer(core, work, chatFeed, n8n, stopping.signal, options);
  parts.add('requests', { stop: () => closeServer(server, stopping) });
  await listen(server, config);

  const { port } = server.address() as AddressInfo;
  core.publicUrl.current ??= `http://localhost:${port}`;
  const publicUrl = core.publicUrl.current;
  const all = started.move();
  return {
    url: `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`,
    publicUrl,
    setupUrl: setupToken === null ? null : `${publicUrl}/setup?token=${setupToken}`,
    stop: () => all.disposeAsync(),
  };
}

type Core = Awaited<ReturnType<typeof openCore>>;

/** What requests and background work both need. It is closed with `started`. */
async function openCore(started: AsyncDisposableStack, config: Config, options: StartOptions) {
  const { clock = systemClock, log = createLogger(config.logLevel) } = options;
  const store = started.adopt(await openServiceStore(config, options, clock, log), (open) =>
    closeWithin(open, config.database === null ? 'the data folder' : 'the database', log),
  );
  const secrets = await openSecretBox(store, config);
  const metrics = started.adopt(createMetrics(store, clock, log), (running) => running.stop());
  const bounds = createBounds(log, metrics.boundReached);
  const passwords = started.adopt(
    new PasswordThreads({ bounds, log, script: options.passwordThread }),
    (threads) => threads.close(),
  );
  const outbound = started.adopt(openOutboundClient(config, options, bounds, log), (client) =>
    closeWithin(client, 'outgoing connections', log),
  );

  // Payment providers are sent this address, so it is set before any work begins. With port 0,
  // as in tests, it is still null here.
  const publicUrl = {
    current: config.publicUrl ?? (config.port === 0 ? null : `http://localhost:${config.port}`),
  };
  const agent = {
    quietMs: config.agentQuietMs,
    approvalExpiresMs: config.approvalExpiresMs,
  };
  const deps: WorkDeps = {
    store,
    clock,
    secrets,
    passwords,
    checkTargetUrl: checkTargetUrlWith(outbound),
    bounds,
    assertRoom: roomAssertion(store, bounds),
    publicUrl: () => publicUrl.current ?? '',
    agent,
    reactions: reactionsOf({ agent, messaging }),
    messaging,
    onMemberRemoved: releaseConversationsOf,
  };
  const model = await openModel(config, log, bounds);
  return { config, log, clock, store, metrics, bounds, outbound, publicUrl, deps, model };
}

const openServiceStore = (
  config: Config,
  { databaseNow, store: embedded, onStoreLost = () => {} }: StartOptions,
  clock: SteadyClock,
  log: Logger,
): Promise<ServiceStore> =>
  openStore(collections, config, {
    log,
    queues: WORK_QUEUES,
    embedded: { clock, holderOf: workspaceOf, ...embedded },
    postgres: { clock, databaseNow, runsJobs: config.role !== 'api', onRewritten: onStoreLost },
  });

function openOutboundClient(config: Config, { ca }: StartOptions, bounds: Bounds, log: Logger) {
  const { allowedNetworks, nat64Prefixes, insecureTargets } = config;
  if (insecureTargets)
    log.warn(
      'INSECURE_TARGETS is on: events and tool calls may be sent unencrypted to addresses in ALLOWED_NETWORKS. Use it on a single machine only.',
    );
  return createOutboundClient({ allowedNetworks, nat64Prefixes, insecureTargets, ca, bounds, log });
}

/** The package for language models is loaded only when one is configured. */
const openModel = async (
  { llm, llmTimeoutMs }: Config,
  log: Logger,
  bounds: Bounds,
): Promise<AgentModel> =>
  llm === null
    ? createKeywordAgent(undefined, bounds)
    : createOpenAiModel({ ...llm, timeoutMs: llmTimeoutMs, log });

/** Does background work unless the process has the role `api`. */
async function startBackgroundWork(
  { config, log, metrics, outbound, deps, model }: Core,
  parts: StopTogether,
  chatFeed: ChatFeed,
  { housekeepingEveryMs, retention = retentionOf(config) }: StartOptions,
): Promise<StartedWork> {
  const work =
    config.role === 'api'
      ? NO_WORK
      : await startWork(
          {
            deps,
            outbound,
            log,
            config,
            model,
            metrics,
            retention,
            housekeepingEveryMs,
            isConnected: (contactId) => chatFeed.has(contactId),
          },
          parts,
        );
  metrics.watchLoop(work.sinceLastTurnMs);
  return work;
}

const retentionOf = ({ retentionDays, conversationRetentionDays }: Config): Retention => ({
  days: retentionDays,
  conversationDays: conversationRetentionDays,
});

/** A process that does no work has no delivery loop that could be stuck. */
const NO_WORK: StartedWork = { sinceLastTurnMs: () => 0 };

/** A worker shows no chats. */
const NO_CHATS: ChatFeed = { listen: () => () => {}, has: () => false };

function createServer(
  core: Core,
  work: StartedWork,
  chatFeed: ChatFeed,
  n8n: N8nSetting,
  stopping: AbortSignal,
  options: StartOptions,
): Server {
  const { config, log, store, metrics, bounds, deps } = core;
  const health = {
    storeFault: () => store.fault,
    storeWarning: () => pressureInWords(store.pressure),
    sinceLastTurnMs: work.sinceLastTurnMs,
    longestStallMs: metrics.longestStallMs,
  };
  const follow = followDocuments(store, stopping);
  const { app, connections } =
    config.role === 'worker'
      ? createWorkerApp({ config, log, health, metrics, bounds, stopping })
      : createApp({
          config,
          deps,
          log,
          health,
          limiters: openLimiters(store),
          metrics,
          chatFeed,
          live: followWorkspaces(store, stopping),
          followToolCall: followToolCalls(follow, deps),
          followPayment: followPayments(follow, deps, options.paymentWait),
          model: screenModelOf(core),
          setup: oneTimeSetup(deps, n8n),
          n8n,
          connectionShares: connectionSharesOf(core),
          stopping,
        });
  const limits = { ...SERVER_LIMITS, ...options.server };
  return createBoundedServer(app, { connections, bounds, limits });
}

const screenModelOf = ({ config: { llm, llmTimeoutMs }, model }: Core) => ({
  model,
  name: llm?.model ?? 'keyword',
  host: llm && new URL(llm.baseUrl).host,
  timeoutMs: llmTimeoutMs,
});

const connectionSharesOf = ({ config: { database }, bounds }: Core): ConnectionShares | null =>
  database && new ConnectionShares(bounds);

function listen(server: Server, { host, port }: Pick<Config, 'host' | 'port'>): Promise<void> {
  const why = ({ code, message }: NodeJS.ErrnoException) =>
    code === 'EADDRINUSE'
      ? `Port ${port} of ${host} is in use. Stop the program that uses it, or set PORT to another one.`
      : `The service cannot listen on HOST ${host} and PORT ${port}: ${message}`;
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new Error(why(error), { cause: error })));
    server.listen(port, host, resolve);
  });
}

/** A disk or a peer that hangs must not delay the stop: nothing acknowledged depends on it. */
async function closeWithin(
  part: { close(): Promise<void> },
  name: string,
  log: Logger,
): Promise<void> {
  if (!(await isDoneWithin(part.close(), FLUSH_MS)))
    log.warn(`${name} could not be closed in time; nothing that was acknowledged is lost`);
}

async function closeServer(server: Server, stopping: AbortController): Promise<void> {
  stopping.abort();
  if (!server.listening) return;
  const closed = new Promise((resolve) => server.close(resolve));
  // A connection becomes idle only after its open stream has ended.
  const sweep = setInterval(() => closeUnusedConnections(server), SWEEP_MS);
  const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearInterval(sweep);
  clearTimeout(timer);
}

/** JSON lines on standard output. Fields that can hold a secret are removed by name. */
export const createLogger = (level: string): Logger =>
  pino(
    {
      level,
      redact: {
        paths: ['*.authorization', '*.token', '*.secret', '*.key', '*.phone', '*.email', '*.text'],
        censor: '[removed]',
      },
    },
    new LogOutput(),
  );
