import { Router, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Deps } from '../../platform/deps.ts';
import { memoryLimiters } from '../../platform/limits/memoryLimiter.ts';
import type { AddressBudget } from '../../platform/http/server/addressBudget.ts';
import { requireApiKey } from '../../team/authentication.ts';
import { requireChatToken } from '../../channels/web_chat/requireChatToken.ts';
import { byFirstPart } from '../../platform/http/byFirstPart.ts';
import type { ChatFeed } from '../../channels/web_chat/chatFeed.ts';
import type { FollowPayment } from '../../payments/followPayments.ts';
import {
  byCaller,
  byWorkspace,
  limitRate,
  type Counting,
  type Rate,
} from '../../platform/http/server/rateLimit.ts';
import type { RequestTurns } from '../../platform/http/server/requestTurns.ts';
import { agentRouter } from '../../agent/routes.ts';
import type { NamedModel } from '../../agent/views.ts';
import { agentTurnsRouter, agentWebhookRouter } from '../../agent/webhook/routes.ts';
import { channelsRouter } from '../../channels/routes.ts';
import { channelWebhooksRouter, paymentWebhooksRouter } from './providerWebhooks.ts';
import { chatMessagesRouter, chatSessionsRouter } from '../../channels/web_chat/routes.ts';
import { CHAT_STREAMS, chatStreamRouter } from '../../channels/web_chat/stream.ts';
import { contactsRouter } from '../../conversations/contacts/routes.ts';
import { conversationsRouter } from '../../conversations/routes.ts';
import { docsRouter } from './docs.ts';
import { eventsRouter } from '../../events/routes.ts';
import { hooksRouter } from '../../deliveries/routes.ts';
import { paymentsRouter } from '../../payments/routes.ts';
import { toolCallsRouter } from '../../tools/calls/routes.ts';
import { membersRouter } from '../../team/routes.ts';
import { toolsRouter } from '../../tools/routes.ts';
import { countBytesBy } from '../../platform/http/jsonRequest.ts';
import type { FollowToolCall } from '../../tools/followToolCalls.ts';
import type { WaitObserver } from '../../waits/waitMetrics.ts';
import { waitsRouter } from '../../waits/routes.ts';
import { WrongKeys } from '../../platform/http/server/wrongKeys.ts';

export interface ApiParts {
  readonly config: Config;
  readonly deps: Deps;
  readonly log: Logger;
  readonly counting: Counting;
  /** What each address may do without a valid API key. */
  readonly budget: AddressBudget;
  readonly turns: RequestTurns;
  readonly chatFeed: ChatFeed;
  readonly followToolCall: FollowToolCall;
  readonly followPayment: FollowPayment;
  readonly model: NamedModel;
  readonly waits: Pick<WaitObserver, 'collected'>;
  /** Ends open streams. */
  readonly stopping: AbortSignal;
}

/** Everything under `/api`. */
export function apiRouter(parts: ApiParts): RequestHandler {
  const { config, deps, log, budget, followToolCall, followPayment, model } = parts;
  const withKey = handlersWithKey(parts);
  const docs = docsRouter(deps.publicUrl);
  const conversations = conversationsRouter(deps);
  const payments = paymentsRouter(deps, config.payments, followPayment);
  return byFirstPart({
    'openapi.json': [budget.requests, docs],
    docs: [budget.requests, docs],
    chat: [chatRouter(parts)],
    hooks: [...withKey, hooksRouter(deps), eventsRouter(deps)],
    contacts: [...withKey, conversations, contactsRouter(deps, log)],
    conversations: [...withKey, conversations, payments],
    members: [...withKey, membersRouter(deps)],
    tools: [...withKey, toolsRouter(deps, followToolCall)],
    'tool-calls': [...withKey, toolCallsRouter(deps)],
    agent: [...withKey, agentRouter(deps, model), agentWebhookRouter(deps)],
    waits: [...withKey, waitsRouter(deps, parts.waits)],
    'agent-turns': [...withKey, agentTurnsRouter(deps)],
    // Meta and Stripe send no API key: each account's address has a secret of its own.
    channels: [channelWebhooksRouter(deps, log), ...withKey, channelsRouter(deps, config.channels)],
    payments: [paymentWebhooksRouter(deps, log)],
    'payment-links': [...withKey, payments],
    'payment-accounts': [...withKey, payments],
  });
}

/** What a call with an API key passes before its route. */
function handlersWithKey({ config, deps, counting, budget, turns }: ApiParts): RequestHandler[] {
  const perKey: Rate = {
    bound: 'key_api_calls',
    most: config.apiRateLimitPerMinute,
    what: 'calls with this API key',
  };
  const perWorkspace: Rate = {
    bound: 'workspace_api_calls',
    most: config.workspaceRateLimitPerMinute,
    what: 'API calls of this workspace',
  };
  return [
    requireApiKey(deps, new WrongKeys(budget.wrongKeys)),
    limitRate(counting, [perKey], byCaller),
    limitRate(counting, [perWorkspace], byWorkspace),
    turns.inTurn(byWorkspace),
  ];
}

/**
 * While streams are refused, each open tab of a visitor polls up to 15 times a minute. Setting
 * CHAT_RATE_LIMIT_PER_MINUTE to 0 turns this limit off too.
 */
const MAX_VISITOR_READS_PER_MINUTE = 240;

/** What the chat page calls. Anybody may call it, so each address and each visitor has limits. */
function chatRouter({ config, deps, counting, budget, turns, chatFeed, stopping }: ApiParts) {
  const perVisitor = config.chatRateLimitPerMinute;
  const messageRate: Rate = { bound: 'visitor_messages', most: perVisitor, what: 'messages' };
  const readRate: Rate = {
    bound: 'visitor_reads',
    most: perVisitor === 0 ? 0 : MAX_VISITOR_READS_PER_MINUTE,
    what: 'requests',
  };
  const inThisProcess = { limiters: memoryLimiters, bounds: counting.bounds };
  const visitorPaths = ['/chat/messages', '/chat/stream'];

  const router = Router();
  router.use(budget.requests, countBytesBy(budget.bytes, budget.readBytes));
  router.post('/chat/sessions', budget.sessions);
  router.use(chatSessionsRouter(deps));
  router.use(visitorPaths, requireChatToken(deps));
  router.post('/chat/messages', limitRate(counting, [messageRate], byCaller), budget.messages);
  router.get(visitorPaths, limitRate(inThisProcess, [readRate], byCaller));
  router.use(visitorPaths, turns.inTurn(byWorkspace));
  router.use(
    chatMessagesRouter(deps),
    chatStreamRouter(deps, chatFeed, stopping, {
      ...CHAT_STREAMS,
      perAddress: budget.maxStreams,
      readBytes: budget.readBytes,
    }),
  );
  return router;
}
