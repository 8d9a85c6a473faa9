import express, { type Express } from 'express';
import helmet from 'helmet';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';
import type { Config } from '../config.ts';
import type { Deps } from '../domain/deps.ts';
import { newId } from '../domain/ids.ts';
import { requireApiKey, requireChatToken } from './authentication.ts';
import type { ChatFeed } from './chatFeed.ts';
import { loggablePath } from './contract/match.ts';
import { handleErrors, refuseUnknown } from './errors.ts';
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
import type { ServiceMetrics } from '../metrics/serviceMetrics.ts';
import type { ScreenModel } from '../screens/agent/agentRoutes.ts';
import type { LiveFeed } from '../screens/liveFeed.ts';
import { screensRouter } from '../screens/screensRouter.ts';
import type { Setup } from '../screens/setup.ts';

export interface AppParts {
  readonly config: Pick<Config, 'apiRateLimitPerMinute' | 'chatRateLimitPerMinute' | 'chatFrameOrigins' | 'channels' | 'payments' | 'metricsToken'>;
  readonly deps: Deps;
  readonly log: Logger;
  readonly health: Health;
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

/** The HTTP side of the service, in the order a request meets it. */
export function createApp({ config, deps, log, health, metrics, chatFeed, followToolCall, followPayment, model, live, setup, stopping }: AppParts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  // Behind a proxy on the same machine, visitors are told apart by the address it names.
  app.set('trust proxy', 'loopback');
  app.use(logRequests(log));
  app.use(metrics.requests);
  app.use(healthRouter(health, stopping), metricsRouter(metrics, config.metricsToken));
  app.use(helmet({ contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } }, strictTransportSecurity: false }));

  app.use('/api', docsRouter(deps.publicUrl));

  const chatRate = config.chatRateLimitPerMinute;
  app.use('/api/chat/sessions', limitRate(chatRate, byAddress));
  app.use('/api', chatSessionsRouter(deps));
  app.use(['/api/chat/messages', '/api/chat/stream'], requireChatToken(deps), limitRate(chatRate, byCaller));
  app.use('/api', chatMessagesRouter(deps), chatStreamRouter(deps, chatFeed, stopping));

  // Meta and Stripe carry no key of ours: each address has its own secret.
  app.use('/api', channelWebhooksRouter(deps, log), paymentWebhooksRouter(deps, log));

  const apiRate = limitRate(config.apiRateLimitPerMinute, byCaller);
  app.use(['/api/hooks', '/api/contacts', '/api/conversations', '/api/tools', '/api/tool-calls', '/api/agent', '/api/channels', '/api/payment-links', '/api/payment-accounts'], requireApiKey(deps), apiRate);
  app.use('/api', hooksRouter(deps), conversationsRouter(deps), toolsRouter(deps, followToolCall), toolCallsRouter(deps), agentRouter(deps, model.name));
  app.use('/api', channelsRouter(deps, config.channels), paymentsRouter(deps, config.payments, followPayment));

  app.use(screensRouter({ deps, config, live, setup, model, followToolCall, followPayment, stopping }));

  app.use(refuseUnknown);
  app.use(handleErrors);
  return app;
}

/** One line a request that failed (each one at LOG_LEVEL=debug): never a header, a query or a body. */
const logRequests = (logger: Logger) =>
  pinoHttp({
    logger,
    genReqId(_request, response) {
      const id = newId('req');
      response.setHeader('X-Request-Id', id);
      return id;
    },
    customLogLevel: (_request, response, error) => (response.statusCode >= 500 || error ? 'error' : response.statusCode >= 400 ? 'info' : 'debug'),
    serializers: {
      req: (request: { id: string; method: string; url: string }) => ({ id: request.id, method: request.method, path: loggablePath(request.url.split('?')[0]!) }),
      res: (response: { statusCode: number }) => ({ status: response.statusCode }),
    },
  });
