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
import { byAddress, byCaller, limitRate } from './rateLimit.ts';
import type { FollowPayment } from './paymentFeed.ts';
import type { FollowToolCall } from './toolCallFeed.ts';
import { agentRouter } from './routes/agent.ts';
import { channelsRouter } from './routes/channels.ts';
import { channelWebhooksRouter } from './routes/channelWebhooks.ts';
import { chatMessagesRouter, chatSessionsRouter } from './routes/chat.ts';
import { chatStreamRouter } from './routes/chatStream.ts';
import { conversationsRouter } from './routes/conversations.ts';
import { docsRouter } from './routes/docs.ts';
import { healthRouter, type Health } from './routes/health.ts';
import { hooksRouter } from './routes/hooks.ts';
import { metricsRouter } from './routes/metrics.ts';
import { paymentsRouter } from './routes/payments.ts';
import { paymentWebhooksRouter } from './routes/paymentWebhooks.ts';
import { toolCallsRouter } from './routes/toolCalls.ts';
import { toolsRouter } from './routes/tools.ts';
import type { Limiters } from '../limits/limiter.ts';
import type { ServiceMetrics } from '../metrics/serviceMetrics.ts';
import type { ScreenModel } from '../screens/agent/agentRoutes.ts';
import type { LiveFeed } from '../screens/liveFeed.ts';
import { screensRouter } from '../screens/screensRouter.ts';
import type { Setup } from '../screens/setup.ts';

export interface AppParts {
  readonly config: Pick<Config, 'apiRateLimitPerMinute' | 'chatRateLimitPerMinute' | 'trustedProxies' | 'chatFrameOrigins' | 'channels' | 'payments' | 'metricsToken'>;
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
  /** Ends open streams. */
  readonly stopping: AbortSignal;
}

/** What every process answers with, whatever its role. */
function bareApp({ config, log, metrics }: Pick<AppParts, 'config' | 'log' | 'metrics'>): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  // Behind a proxy of ours, visitors are told apart by the address it names; anybody else could name any.
  app.set('trust proxy', [...config.trustedProxies]);
  logRequests(app, log);
  app.use(metrics.requests);
  app.use(helmet({ contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } }, strictTransportSecurity: false }));
  return app;
}

/** A worker says how it is, and nothing else. */
export function createWorkerApp(parts: Pick<AppParts, 'config' | 'log' | 'health' | 'metrics' | 'stopping'>): Express {
  const app = bareApp(parts);
  app.use(healthRouter(parts.health, parts.stopping), metricsRouter(parts.metrics, parts.config.metricsToken));
  app.use(refuseOnWorker);
  app.use(handleErrors);
  return app;
}

/** The HTTP side of the service, in the order a request meets it. */
export function createApp({ config, deps, log, health, limiters, metrics, chatFeed, followToolCall, followPayment, model, live, setup, stopping }: AppParts): Express {
  const app = bareApp({ config, log, metrics });
  const chatRate = (name: string) => ({ name, perMinute: config.chatRateLimitPerMinute });
  const chat = Router();
  chat.use('/chat/sessions', limitRate(limiters, chatRate('chat_sessions'), byAddress));
  chat.use(chatSessionsRouter(deps));
  chat.use(['/chat/messages', '/chat/stream'], requireChatToken(deps), limitRate(limiters, chatRate('chat'), byCaller));
  chat.use(chatMessagesRouter(deps), chatStreamRouter(deps, chatFeed, stopping));

  const docs = docsRouter(deps.publicUrl);
  const withKey = [requireApiKey(deps), limitRate(limiters, { name: 'api', perMinute: config.apiRateLimitPerMinute }, byCaller)];
  const [conversations, payments] = [conversationsRouter(deps), paymentsRouter(deps, config.payments, followPayment)];
  app.use(
    '/api',
    byFirstPart({
      'openapi.json': [docs],
      docs: [docs],
      chat: [chat],
      hooks: [...withKey, hooksRouter(deps)],
      contacts: [...withKey, conversations],
      conversations: [...withKey, conversations, payments],
      tools: [...withKey, toolsRouter(deps, followToolCall)],
      'tool-calls': [...withKey, toolCallsRouter(deps)],
      agent: [...withKey, agentRouter(deps, model.name)],
      // Meta and Stripe carry no key of ours: each address has its own secret.
      channels: [channelWebhooksRouter(deps, log), ...withKey, channelsRouter(deps, config.channels)],
      payments: [paymentWebhooksRouter(deps, log)],
      'payment-links': [...withKey, payments],
      'payment-accounts': [...withKey, payments],
    }),
  );

  app.use(healthRouter(health, stopping), metricsRouter(metrics, config.metricsToken));
  app.use(screensRouter({ deps, config, limiters, live, setup, model, followToolCall, followPayment, stopping }));

  app.use(refuseUnknown);
  app.use(handleErrors);
  return app;
}
