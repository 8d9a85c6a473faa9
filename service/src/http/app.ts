import { isIP } from 'node:net';
import express, { Router, type Express } from 'express';
import helmet from 'helmet';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Deps } from '../domain/deps.ts';
import { requireApiKey, requireChatToken } from './authentication.ts';
import { byFirstPart } from './byFirstPart.ts';
import type { ChatFeed } from './chatFeed.ts';
import { handleErrors, refuseOnWorker, refuseUnknown } from './errors.ts';
import { logRequests } from './logRequests.ts';
import { addressBudget, maxConnectionsOfAnAddress } from './addressBudget.ts';
import { Connections, type IsProxy } from './connections.ts';
import { byCaller, byWorkspace, limitRate } from './rateLimit.ts';
import { BodyRoom } from './readBody.ts';
import { countBytesBy } from './serve.ts';
import { RequestTurns } from './requestTurns.ts';
import { WrongKeys } from './wrongKeys.ts';
import { UnreadAnswers } from './unreadAnswers.ts';
import type { FollowPayment } from './paymentFeed.ts';
import type { FollowToolCall } from './toolCallFeed.ts';
import { agentRouter } from './routes/agent.ts';
import { channelsRouter } from './routes/channels.ts';
import { channelWebhooksRouter } from './routes/channelWebhooks.ts';
import { chatMessagesRouter, chatSessionsRouter } from './routes/chat.ts';
import { CHAT_STREAMS, chatStreamRouter } from './routes/chatStream.ts';
import { conversationsRouter } from './routes/conversations.ts';
import { docsRouter } from './routes/docs.ts';
import { healthRouter, type Health } from './routes/health.ts';
import { hooksRouter } from './routes/hooks.ts';
import { metricsRouter } from './routes/metrics.ts';
import { paymentsRouter } from './routes/payments.ts';
import { paymentWebhooksRouter } from './routes/paymentWebhooks.ts';
import { toolCallsRouter } from './routes/toolCalls.ts';
import { toolsRouter } from './routes/tools.ts';
import type { Bounds } from '../limits/bounds.ts';
import type { Limiters } from '../limits/limiter.ts';
import { memoryLimiters } from '../limits/memoryLimiter.ts';
import type { ConnectionShares } from '../limits/connectionShares.ts';
import type { ServiceMetrics } from '../metrics/serviceMetrics.ts';
import type { ScreenModel } from '../screens/agent/agentRoutes.ts';
import type { LiveFeed } from '../screens/liveFeed.ts';
import { screensRouter } from '../screens/screensRouter.ts';
import type { Setup } from '../screens/setup.ts';

export interface AppParts {
  readonly config: Pick<
    Config,
    | 'apiRateLimitPerMinute'
    | 'workspaceRateLimitPerMinute'
    | 'chatRateLimitPerMinute'
    | 'addressBudget'
    | 'trustedProxies'
    | 'chatFrameOrigins'
    | 'channels'
    | 'payments'
    | 'metricsToken'
  >;
  readonly deps: Deps;
  readonly log: Logger;
  readonly health: Health;
  /** Count requests and attempts. */
  readonly limiters: Limiters;
  readonly metrics: Pick<ServiceMetrics, 'requests' | 'read'>;
  readonly chatFeed: ChatFeed;
  readonly followToolCall: FollowToolCall;
  readonly followPayment: FollowPayment;
  readonly model: ScreenModel;
  readonly live: LiveFeed;
  readonly setup: Setup;
  /**
   * For the transactions of API calls; null where nothing is shared that they could take from
   * others.
   */
  readonly connectionShares: ConnectionShares | null;
  /** Ends open streams. */
  readonly stopping: AbortSignal;
}

/** How the app is listened to. */
export interface App {
  readonly app: Express;
  readonly connections: Connections;
}

/** What every process answers with, whatever its role. */
function bareApp({
  config,
  log,
  metrics,
  bounds,
}: Pick<AppParts, 'config' | 'log' | 'metrics'> & { bounds: Bounds }): App {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  // Behind a proxy of ours, visitors are told apart by the address it names; anybody else could
  // name any.
  app.set('trust proxy', [...config.trustedProxies]);
  const trusts = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
  const isProxy: IsProxy = (address) => isIP(address) !== 0 && trusts(address, 0);
  const connections = new Connections({
    max: maxConnectionsOfAnAddress(config.addressBudget),
    bounds,
    isProxy,
  });
  app.locals.bodyRoom = new BodyRoom(bounds);
  logRequests(app, log, bounds);
  app.use(metrics.requests);
  app.use(connections.admitRequest);
  app.use(new UnreadAnswers(bounds).watch);
  app.use(
    helmet({
      contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } },
      strictTransportSecurity: false,
    }),
  );
  return { app, connections };
}

/** A worker says how it is, and nothing else. */
export function createWorkerApp(
  parts: Pick<AppParts, 'config' | 'log' | 'health' | 'metrics' | 'stopping'> & { bounds: Bounds },
): App {
  const { app, connections } = bareApp(parts);
  app.use(
    healthRouter(parts.health, parts.stopping),
    metricsRouter(parts.metrics, parts.config.metricsToken),
  );
  app.use(refuseOnWorker);
  app.use(handleErrors);
  return { app, connections };
}

/**
 * A visitor whose page polls asks 15 times a minute, and each of their tabs does; 0 of
 * CHAT_RATE_LIMIT_PER_MINUTE turns it off too.
 */
const MAX_VISITOR_READS_PER_MINUTE = 240;

/** The HTTP side of the service, in the order a request meets it. */
export function createApp({
  config,
  deps,
  log,
  health,
  limiters,
  metrics,
  chatFeed,
  followToolCall,
  followPayment,
  model,
  live,
  setup,
  connectionShares,
  stopping,
}: AppParts): App {
  const { bounds } = deps;
  const { app, connections } = bareApp({ config, log, metrics, bounds });
  app.locals.connectionShares = connectionShares;
  const counting = { limiters, bounds };
  const budget = addressBudget(counting, config.addressBudget);
  const wrongKeys = new WrongKeys(budget.wrongKeys);
  const turns = new RequestTurns(bounds);
  const inTurn = turns.inTurn((response) => byWorkspace(null, response));

  const perVisitor = config.chatRateLimitPerMinute;
  const visitorMessages = limitRate(
    counting,
    [
      {
        name: 'visitor_messages',
        most: perVisitor,
        seconds: 60,
        bound: 'visitor_messages',
        what: 'messages',
      },
    ],
    byCaller,
  );
  const maxReads = perVisitor === 0 ? 0 : MAX_VISITOR_READS_PER_MINUTE;
  const visitorReads = limitRate(
    { limiters: memoryLimiters, bounds },
    [
      {
        name: 'visitor_reads',
        most: maxReads,
        seconds: 60,
        bound: 'visitor_reads',
        what: 'requests',
      },
    ],
    byCaller,
  );
  const chat = Router();
  chat.use(budget.requests, countBytesBy(budget.bytes, budget.readBytes));
  chat.post('/chat/sessions', budget.sessions);
  chat.use(chatSessionsRouter(deps));
  chat.use(['/chat/messages', '/chat/stream'], requireChatToken(deps));
  chat.post('/chat/messages', visitorMessages, budget.messages);
  chat.get(['/chat/messages', '/chat/stream'], visitorReads);
  chat.use(['/chat/messages', '/chat/stream'], inTurn);
  chat.use(
    chatMessagesRouter(deps),
    chatStreamRouter(deps, chatFeed, stopping, {
      ...CHAT_STREAMS,
      perAddress: budget.maxStreams,
      readBytes: budget.readBytes,
    }),
  );

  const docs = docsRouter(deps.publicUrl);
  const perKey = {
    name: 'api',
    most: config.apiRateLimitPerMinute,
    seconds: 60,
    bound: 'key_api_calls',
    what: 'calls with this API key',
  } as const;
  const perWorkspace = {
    name: 'api_workspace',
    most: config.workspaceRateLimitPerMinute,
    seconds: 60,
    bound: 'workspace_api_calls',
    what: 'API calls of this workspace',
  } as const;
  const withKey = [
    requireApiKey(deps, wrongKeys),
    limitRate(counting, [perKey], byCaller),
    limitRate(counting, [perWorkspace], byWorkspace),
    inTurn,
  ];
  const [conversations, payments] = [
    conversationsRouter(deps),
    paymentsRouter(deps, config.payments, followPayment),
  ];
  app.use(
    '/api',
    byFirstPart({
      'openapi.json': [budget.requests, docs],
      docs: [budget.requests, docs],
      chat: [chat],
      hooks: [...withKey, hooksRouter(deps)],
      contacts: [...withKey, conversations],
      conversations: [...withKey, conversations, payments],
      tools: [...withKey, toolsRouter(deps, followToolCall)],
      'tool-calls': [...withKey, toolCallsRouter(deps)],
      agent: [...withKey, agentRouter(deps, model.name)],
      // Meta and Stripe carry no key of ours: each address has its own secret.
      channels: [
        channelWebhooksRouter(deps, log),
        ...withKey,
        channelsRouter(deps, config.channels),
      ],
      payments: [paymentWebhooksRouter(deps, log)],
      'payment-links': [...withKey, payments],
      'payment-accounts': [...withKey, payments],
    }),
  );

  app.use(healthRouter(health, stopping), metricsRouter(metrics, config.metricsToken));
  app.use(
    screensRouter({
      deps,
      connectionShares,
      config,
      limiters,
      budget,
      turns,
      live,
      setup,
      model,
      followToolCall,
      followPayment,
      stopping,
    }),
  );

  app.use(refuseUnknown);
  app.use(handleErrors);
  return { app, connections };
}
