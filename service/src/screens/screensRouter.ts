import { Router, type Response } from 'express';
import type { Deps } from '../domain/deps.ts';
import type { Config } from '../config.ts';
import type { FollowPayment } from '../http/paymentFeed.ts';
import type { FollowToolCall } from '../http/toolCallFeed.ts';
import { agentScreenRouter, type ScreenModel } from './agent/agentRoutes.ts';
import { assetsRouter } from './assets.ts';
import { limitAttempts } from './attempts.ts';
import { channelScreensRouter } from './channels/channelRoutes.ts';
import { chatRouter } from './chat/chatRouter.ts';
import { conversationsRouter } from './conversations/conversationsRouter.ts';
import { handleScreenErrors } from './errorPage.ts';
import { readMemberForm } from './forms.ts';
import { keysRouter } from './keys/keysRouter.ts';
import type { AddressBudget } from '../http/addressBudget.ts';
import type { RequestTurns } from '../http/requestTurns.ts';
import type { ConnectionShares } from '../limits/connectionShares.ts';
import { limitRate } from '../http/rateLimit.ts';
import type { Limiters } from '../limits/limiter.ts';
import { memoryLimiters } from '../limits/memoryLimiter.ts';
import type { LiveFeed } from './liveFeed.ts';
import { liveStreamRouter } from './liveStream.ts';
import { securityHeaders } from './securityHeaders.ts';
import { payRouter } from './pay/payRouter.ts';
import { doForMember, withMemberShare } from './memberShare.ts';
import { paymentScreensRouter } from './payments/paymentRoutes.ts';
import { refuseCrossSite, requireCsrfToken, requireMember, signedInOf } from './session.ts';
import { setupRouter, type Setup } from './setup.ts';
import { signInRouter } from './signIn.ts';
import { joinRouter, teamRouter } from './team.ts';
import { toolScreensRouter } from './tools/toolRoutes.ts';

export interface ScreenParts {
  readonly deps: Deps;
  /** Null: there is nothing to share. */
  readonly connectionShares: ConnectionShares | null;
  readonly config: Pick<Config, 'chatFrameOrigins' | 'channels' | 'payments'>;
  readonly limiters: Limiters;
  /** Of each address, for those who are not signed in. */
  readonly budget: AddressBudget;
  /** Of all requests, workspace by workspace. */
  readonly turns: RequestTurns;
  readonly live: LiveFeed;
  readonly setup: Setup;
  readonly model: ScreenModel;
  readonly followToolCall: FollowToolCall;
  readonly followPayment: FollowPayment;
  /** Ends open streams. */
  readonly stopping: AbortSignal;
}

/** Pages that only members see; every one of them does its work through the domain's operations. */
const MEMBER_PATHS = [
  '/conversations',
  '/tools',
  '/agent',
  '/channels',
  '/payments',
  '/keys',
  '/team',
  '/account',
  '/live',
];

/** As many as API calls: a team of two hundred whose pages are loaded anew each second. */
const MAX_PAGES_A_MINUTE = 12_000;

/** Pages that anybody may ask for. */
const STRANGER_PATHS = ['/assets', '/chat', '/setup', '/sign-in', '/join'];

/**
 * What members add, and who joins them; the rest of what they do makes room, or takes none to speak
 * of.
 */
const ADDING_PATHS =
  /^\/(conversations\/[^/]+\/(reply|payment-link)|channels|tools|tools\/[^/]+|tools\/[^/]+\/test|keys|keys\/subscriptions|keys\/subscriptions\/[^/]+\/(test|recover)|team\/invites|join)\/?$/i;

/** The screens, in the order a request meets them. */
export function screensRouter(parts: ScreenParts): Router {
  const {
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
  } = parts;
  const deps = withMemberShare(parts.deps, parts.connectionShares);
  const { publicUrl } = deps;
  const isHttps = () => publicUrl().startsWith('https://');
  const router = Router();
  router.use(STRANGER_PATHS, budget.requests);
  router.use(assetsRouter());
  router.use(chatRouter(deps, config.chatFrameOrigins), payRouter(deps, budget.payPages));
  router.use(
    ['/setup', '/sign-in', '/sign-out', '/sign-out-everywhere', '/join', ...MEMBER_PATHS],
    securityHeaders(),
    refuseCrossSite,
  );
  router.post(ADDING_PATHS, (_request, _response, next) => (deps.assertRoom('data', null), next()));
  router.get('/', (_request, response) => response.redirect(303, '/conversations'));
  const attempts = limitAttempts(limiters, deps.bounds);
  router.use(setupRouter(setup, attempts, publicUrl));
  router.use(signInRouter(deps, attempts, isHttps), joinRouter(deps, attempts, isHttps));

  router.use(MEMBER_PATHS, requireMember(deps));
  const workspaceOf = (response: Response) => signedInOf(response).workspace.id;
  router.post(
    ADDING_PATHS,
    (_request, response, next) => (deps.assertRoom('data', workspaceOf(response)), next()),
  );
  const perWorkspace = {
    name: 'pages',
    most: MAX_PAGES_A_MINUTE,
    seconds: 60,
    bound: 'workspace_pages',
    what: 'pages for this workspace',
  } as const;
  const counting = { limiters: memoryLimiters, bounds: deps.bounds };
  router.use(
    MEMBER_PATHS,
    limitRate(counting, [perWorkspace], (_request, response) => workspaceOf(response)),
  );
  router.use(
    MEMBER_PATHS,
    turns.inTurn(workspaceOf),
    readMemberForm,
    requireCsrfToken,
    doForMember,
  );
  router.use(liveStreamRouter(deps, live, stopping));
  router.use(conversationsRouter(deps, followPayment));
  router.use(
    toolScreensRouter(deps, followToolCall),
    agentScreenRouter(deps, model, publicUrl, stopping),
  );
  router.use(
    channelScreensRouter(deps, config.channels),
    paymentScreensRouter(deps, config.payments),
  );
  router.use(teamRouter(deps, attempts, publicUrl));
  router.use(keysRouter(deps, publicUrl));

  router.use(handleScreenErrors);
  return router;
}
