import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino, type Logger } from 'pino';
import type { AgentModel } from './agent/agentModel.ts';
import { createKeywordAgent } from './agent/keywordAgent.ts';
import { createOpenAiModel } from './agent/openaiModel.ts';
import { bootstrap, oneTimeSetup } from './bootstrap.ts';
import { channelDirectory } from './channels/registry.ts';
import type { Config } from './config.ts';
import { checkTargetUrlWith } from './delivery/checkTargetUrl.ts';
import { systemClock, type SteadyClock } from './domain/clock.ts';
import { collections, workspaceOf } from './domain/collections.ts';
import type { Deps } from './domain/deps.ts';
import { openSecretBox } from './encryption/openSecretBox.ts';
import type { Retention } from './housekeeping.ts';
import { WORK_QUEUES } from './domain/workQueues.ts';
import { createApp, createWorkerApp } from './app/createApp.ts';
import { createBoundedServer, SERVER_LIMITS, type ServerLimits } from './http/server.ts';
import { followChatMessages, type ChatFeed } from './http/chatFeed.ts';
import { ConnectionShares } from './limits/connectionShares.ts';
import { followPayments } from './http/paymentFeed.ts';
import { followToolCalls } from './http/toolCallFeed.ts';
import { createBounds, type Bounds } from './limits/bounds.ts';
import { pressureInWords, roomIn } from './limits/room.ts';
import { openLimiters } from './limits/openLimiters.ts';
import { createMetrics } from './metrics/serviceMetrics.ts';
import { createOutboundClient } from './outbound/outboundClient.ts';
import { paymentDirectory } from './payments/registry.ts';
import { followWorkspaces } from './screens/liveFeed.ts';
import { PasswordThreads } from './security/passwords.ts';
import { LogOutput } from './logOutput.ts';
import type { LowdbOptions } from './store/lowdb/index.ts';
import { openStore } from './store/openStore.ts';
import { startWork, type StartedWork } from './startWork.ts';
import { isDoneWithin, StopTogether } from './work/stopTogether.ts';

export interface Service {
  /** Where it listens: `http://127.0.0.1:3000`. */
  readonly url: string;
  /** PUBLIC_URL, or what serves for it on this machine. */
  readonly publicUrl: string;
  /** The one-time link of the first start; null when the service is set up. */
  readonly setupUrl: string | null;
  /**
   * Takes no more requests and work, finishes what is in flight, flushes and lets go of the data
   * folder: at most DELIVERY_TIMEOUT_MS (or 10 s, if that is less) and 14 s. @see decision 0021
   */
  stop(): Promise<void>;
}

/** What tests and measurements put in another's place. */
export interface StartOptions {
  readonly clock?: SteadyClock;
  /** Stands for the database's clock, in milliseconds since the epoch. */
  readonly databaseNow?: () => number;
  readonly log?: Logger;
  /** A CA (PEM) that outbound calls trust beside the system's. */
  readonly ca?: string;
  /** The embedded store's own settings: early snapshots, file operations that fail. */
  readonly store?: Partial<Omit<LowdbOptions, 'folder' | 'log'>>;
  /** Between two clean-ups. */
  readonly housekeepingEveryMs?: number;
  /** In parts of days, so that things age while a test looks on. */
  readonly retention?: Retention;
  /** How slow clients may be. */
  readonly server?: Partial<ServerLimits>;
  /** Called when the store can never be used again by this process, which must be ended then. */
  readonly onStoreLost?: (error: Error) => void;
  /** The script of the threads that hash passwords. */
  readonly passwordThread?: URL;
}

/**
 * How long open requests and calls of tools, channels and payment providers may take to end at a
 * stop.
 */
const DRAIN_MS = 10_000;
/** What a stop gives what has ended to be recorded. */
const RECORD_MS = 4_000;
/** What it then gives the disk to flush, and connections to close. */
const FLUSH_MS = 5_000;
const SWEEP_MS = 50;

/** Wires the parts and starts them; when one fails, those started before are stopped again. */
export async function startService(
  config: Config,
  {
    clock = systemClock,
    databaseNow,
    log = createLogger(config.logLevel),
    ca,
    store: storeOptions = {},
    housekeepingEveryMs,
    retention = retentionOf(config),
    server: serverLimits = {},
    onStoreLost,
    passwordThread,
  }: StartOptions = {},
): Promise<Service> {
  await using started = new AsyncDisposableStack();

  const store = started.adopt(
    await openStore(collections, config, {
      log,
      queues: WORK_QUEUES,
      embedded: { clock, holderOf: workspaceOf, ...storeOptions },
      postgres: { clock, databaseNow, works: config.role !== 'api', onRewritten: onStoreLost },
    }),
    (open) => closeWithin(open, config.database === null ? 'the data folder' : 'the database', log),
  );
  const secrets = await openSecretBox(store, config);
  const metrics = started.adopt(createMetrics(store, clock, log), (running) => running.stop());
  const bounds = createBounds(log, metrics.boundReached);
  const passwords = started.adopt(
    new PasswordThreads({ bounds, log, script: passwordThread }),
    (threads) => threads.close(),
  );

  const outbound = started.adopt(
    createOutboundClient({
      allowedNetworks: config.allowedNetworks,
      nat64Prefixes: config.nat64Prefixes,
      insecureTargets: config.insecureTargets,
      ca,
      bounds,
      log,
    }),
    (client) => closeWithin(client, 'outgoing connections', log),
  );
  if (config.insecureTargets) {
    log.warn(
      'INSECURE_TARGETS is on: events and tool calls may go out unencrypted to addresses within ALLOWED_NETWORKS. Use it on one machine only.',
    );
  }
  // Known before any work begins: a payment page's address goes to the provider. Only port 0, of
  // tests, is known later.
  let publicUrl =
    config.publicUrl ?? (config.port === 0 ? null : `http://localhost:${config.port}`);
  const deps: Deps = {
    store,
    clock,
    secrets,
    passwords,
    checkTargetUrl: checkTargetUrlWith(outbound),
    bounds,
    assertRoom: roomIn(store, bounds),
    channels: channelDirectory,
    payments: paymentDirectory,
    publicUrl: () => publicUrl ?? '',
    agent: {
      isOnByDefault: config.llm !== null,
      quietMs: config.agentQuietMs,
      approvalExpiresMs: config.approvalExpiresMs,
    },
  };
  const { setupToken } = await bootstrap(deps, config);

  const parts = started.adopt(new StopTogether(), (running) =>
    running.stop(Math.max(config.deliveryTimeoutMs, DRAIN_MS) + RECORD_MS, log),
  );
  const stopping = new AbortController();
  const chatFeed = config.role === 'worker' ? NO_CHATS : followChatMessages(store, stopping.signal);
  const model = await openModel(config, log, bounds);
  const work =
    config.role === 'api'
      ? NO_WORK
      : await startWork(
          {
            store,
            deps,
            outbound,
            log,
            config,
            clock,
            model,
            observer: metrics.deliveries,
            retention,
            housekeepingEveryMs,
            isConnected: (contactId) => chatFeed.has(contactId),
          },
          parts,
        );
  metrics.watchLoop(work.sinceLastTurnMs);

  const health = {
    storeFault: () => store.fault,
    storeWarning: () => pressureInWords(store.pressure),
    sinceLastTurnMs: work.sinceLastTurnMs,
    longestStallMs: metrics.longestStallMs,
  };
  const { app, connections } =
    config.role === 'worker'
      ? createWorkerApp({ config, log, health, metrics, bounds, stopping: stopping.signal })
      : createApp({
          config,
          deps,
          log,
          health,
          limiters: openLimiters(store),
          metrics,
          chatFeed,
          live: followWorkspaces(store, stopping.signal),
          followToolCall: followToolCalls(store, deps, stopping.signal),
          followPayment: followPayments(store, deps, stopping.signal),
          model: {
            model,
            name: config.llm?.model ?? 'keyword',
            host: config.llm && new URL(config.llm.baseUrl).host,
            timeoutMs: config.llmTimeoutMs,
          },
          setup: oneTimeSetup(deps),
          connectionShares:
            config.database &&
            new ConnectionShares({
              places: config.database.connections,
              bounds,
              bound: 'workspace_transactions',
            }),
          stopping: stopping.signal,
        });
  const server = createBoundedServer(app, {
    connections,
    bounds,
    limits: { ...SERVER_LIMITS, ...serverLimits },
  });
  parts.add('requests', { stop: () => closeServer(server, stopping) });
  await listen(server, config);
  const { port } = server.address() as AddressInfo;
  publicUrl ??= `http://localhost:${port}`;

  const all = started.move();
  return {
    url: `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`,
    publicUrl,
    setupUrl: setupToken === null ? null : `${publicUrl}/setup?token=${setupToken}`,
    stop: () => all.disposeAsync(),
  };
}

/** What a process that does no work says of its loops: they never stand still. */
const NO_WORK: StartedWork = { sinceLastTurnMs: () => 0 };

/** What a process that shows no chat knows of chats. */
const NO_CHATS: ChatFeed = { listen: () => () => {}, has: () => false };

const retentionOf = ({ retentionDays, conversationRetentionDays }: Config): Retention => ({
  days: retentionDays,
  conversationDays: conversationRetentionDays,
});

/**
 * What decides for the agent. The package for language models is loaded only when one is
 * configured.
 */
const openModel = async (
  { llm, llmTimeoutMs }: Config,
  log: Logger,
  bounds: Bounds,
): Promise<AgentModel> =>
  llm === null
    ? createKeywordAgent(undefined, bounds)
    : createOpenAiModel({ ...llm, timeoutMs: llmTimeoutMs, log });

function listen(server: Server, { host, port }: Pick<Config, 'host' | 'port'>): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(
              `Port ${port} of ${host} is in use. Stop what uses it, or set PORT to another one.`,
            )
          : error,
      ),
    );
    server.listen(port, host, resolve);
  });
}

/** A disk or a peer that hangs must not hold up the end: nothing acknowledged waits for it. */
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
  // Open streams end first: their connections are idle only afterwards.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearInterval(sweep);
  clearTimeout(timer);
}

/** Structured lines on standard output; anything that could hold a secret is cut out by name. */
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
