import compression from 'compression';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { Deps } from '../../platform/deps.ts';
import type { Config } from '../config.ts';
import type { FollowPayment } from '../../payments/followPayments.ts';
import type { FollowToolCall } from '../../tools/followToolCalls.ts';
import { agentScreenRouter, type ScreenModel } from '../../agent/screens/agentRoutes.ts';
import { assetsRouter } from '../../platform/html/assets.ts';
import { limitAttempts } from '../../team/screens/signInAttempts.ts';
import { channelScreensRouter } from '../../channels/screens/channelRoutes.ts';
import { chatRouter } from '../../channels/web_chat/chatRouter.ts';
import { waitingRouter } from '../../inbox/waiting/waitingRouter.ts';
import { waitScreensRouter } from '../../waits/screens/waitRoutes.ts';
import { conversationsRouter } from '../../inbox/conversationsRouter.ts';
import { handleScreenErrors, sendErrorPage } from '../../platform/html/errorPage.ts';
import { readMemberFormBody } from '../../platform/html/forms.ts';
import { keysRouter } from '../../deliveries/screens/keysRouter.ts';
import type { AddressBudget } from '../../platform/http/server/addressBudget.ts';
import type { RequestTurns } from '../../platform/http/server/requestTurns.ts';
import type { ConnectionShares } from '../../platform/limits/connectionShares.ts';
import { limitRate } from '../../platform/http/server/rateLimit.ts';
import type { Limiters } from '../../platform/limits/limiter.ts';
import { memoryLimiters } from '../../platform/limits/memoryLimiter.ts';
import type { N8nSetting } from '../../team/n8nSetting.ts';
import { ownersOnly } from './ownersOnly.ts';
import { overviewRouter } from '../../overview/screens/overviewRoutes.ts';
import { examplesRouter } from './examplesPage.ts';
import type { LiveFeed } from './liveFeed.ts';
import { liveStreamRouter, noteLivePosition, openTeamStreams } from './liveStream.ts';
import { noteCounts } from './noteCounts.ts';
import { MEMBER_PATHS, PUBLIC_PATHS, SIGN_IN_PATHS } from './screenPaths.ts';
import { pageHeaders } from '../../platform/http/server/securityHeaders.ts';
import { payRouter } from '../../payments/screens/payRouter.ts';
import { rememberMember, withMemberShare } from './memberShare.ts';
import { paymentScreensRouter } from '../../payments/screens/paymentRoutes.ts';
import {
  noteMember,
  refuseCrossSite,
  requireCsrfToken,
  requireMember,
  signedInOf,
} from '../../team/signedIn.ts';
import type { SignedIn } from '../../team/operations/sessions.ts';
import { isOwner, type Member } from '../../team/workspace.ts';
import { cannedRepliesRouter } from '../../team/screens/cannedReplies.ts';
import { resetPasswordRouter } from '../../team/screens/resetPassword.ts';
import { settingsRouter } from '../../team/screens/settings.ts';
import { type Setup, setupRouter } from '../../team/screens/setup.ts';
import { signInRouter } from '../../team/screens/signIn.ts';
import { joinRouter, teamRouter } from '../../team/screens/team.ts';
import { toolScreensRouter } from '../../tools/screens/toolRoutes.ts';

export interface ScreenParts {
  readonly deps: Deps;
  /** Null where database connections are not shared. */
  readonly connectionShares: ConnectionShares | null;
  readonly config: Config;
  readonly limiters: Limiters;
  /** What each address may request without signing in. */
  readonly budget: AddressBudget;
  /** Serves the workspaces' requests in turn. */
  readonly turns: RequestTurns;
  readonly live: LiveFeed;
  readonly setup: Setup;
  readonly n8n: N8nSetting;
  readonly model: ScreenModel;
  readonly followToolCall: FollowToolCall;
  readonly followPayment: FollowPayment;
  /** Ends open streams. */
  readonly stopping: AbortSignal;
}

/** Requests that add data. Requests that free space, or hardly use any, are always accepted. */
const ADDING_PATHS = [
  '/conversations/:id/reply',
  '/conversations/:id/note',
  '/settings/canned-replies',
  '/conversations/:id/payment-link',
  '/conversations/:id/payments/:paymentId/send',
  '/channels',
  '/tools',
  '/tools/:id',
  '/tools/:id/test',
  '/agent/try',
  '/keys',
  '/keys/subscriptions',
  '/keys/subscriptions/:id/test',
  '/keys/subscriptions/:id/recover',
  '/team/invites',
  '/overview/test-message',
  '/join',
];

/** The first screen: what an owner looks at, and where a member works. */
const homeOf = (member: Member): string => (isOwner(member) ? '/overview' : '/conversations');

/** As many as API calls: a team of two hundred that reloads a page each second. */
const MAX_PAGES_PER_MINUTE = 12_000;
const PAGE_RATE = {
  bound: 'workspace_pages',
  most: MAX_PAGES_PER_MINUTE,
  what: 'pages for this workspace',
} as const;

/** Event streams go out as they are, since compressing would hold events back. */
const isCompressed = (request: Request, response: Response): boolean =>
  !String(response.getHeader('Content-Type')).startsWith('text/event-stream') &&
  compression.filter(request, response);

/** All pages, in the order in which a request passes them. */
export function screensRouter(parts: ScreenParts): Router {
  const { config, budget, turns, stopping } = parts;
  const deps = withMemberShare(parts.deps, parts.connectionShares);
  const { publicUrl } = deps;
  const isHttps = () => publicUrl().startsWith('https://');
  const attempts = limitAttempts(parts.limiters, deps.bounds);
  const router = Router();

  router.use(compression({ filter: isCompressed }));
  router.use(PUBLIC_PATHS, budget.requests);
  router.use(assetsRouter());
  router.use(chatRouter(deps, config.chatFrameOrigins), payRouter(deps, budget.payPages));
  router.use([...SIGN_IN_PATHS, ...MEMBER_PATHS], pageHeaders(), refuseCrossSite);
  router.post(ADDING_PATHS, (_request, _response, next) => {
    deps.assertRoom('data', null);
    next();
  });
  router.get('/', noteMember(deps), (_request, response) => {
    const signedIn = signedInOf(response) as SignedIn | undefined;
    response.redirect(303, !signedIn ? '/sign-in' : homeOf(signedIn.member));
  });
  router.use(setupRouter(parts.setup, parts.n8n, attempts, publicUrl));
  router.use(signInRouter(deps, attempts, isHttps), joinRouter(deps, attempts, isHttps));
  router.use(resetPasswordRouter(deps, attempts, isHttps));

  const workspaceOf = (_request: unknown, response: Response) => signedInOf(response).workspace.id;
  const counting = { limiters: memoryLimiters, bounds: deps.bounds };
  const streams = openTeamStreams();
  router.use(MEMBER_PATHS, requireMember(deps), noteLivePosition(parts.live, streams));
  router.post(ADDING_PATHS, (request, response, next) => {
    deps.assertRoom('data', workspaceOf(request, response));
    next();
  });
  router.use(
    MEMBER_PATHS,
    limitRate(counting, [PAGE_RATE], workspaceOf),
    turns.inTurn(workspaceOf),
    readMemberFormBody,
    requireCsrfToken,
    ownersOnly,
    rememberMember,
  );
  router.use(liveStreamRouter(deps, parts.live, streams, stopping));
  router.use(MEMBER_PATHS, noteCounts(deps));
  router.use(overviewRouter(deps));
  router.use(conversationsRouter(deps, parts.followPayment));
  router.use(waitingRouter(deps), waitScreensRouter(deps));
  router.use(toolScreensRouter(deps, parts.followToolCall));
  router.use(agentScreenRouter({ deps, model: parts.model, publicUrl, stopping }));
  router.use(channelScreensRouter(deps, config.channels));
  router.use(paymentScreensRouter(deps, config.payments));
  router.use(teamRouter(deps, attempts, publicUrl));
  router.use(keysRouter(deps, publicUrl), examplesRouter(publicUrl));
  router.use(settingsRouter(deps, parts.n8n), cannedRepliesRouter(deps));

  router.use(passBrowsersOnly, pageHeaders(), noteMember(deps), noteCounts(deps), showUnknown);
  router.use(handleScreenErrors);
  return router;
}

/** At addresses that do not exist, browsers get a page and programs get the API's answer. */
const passBrowsersOnly: RequestHandler = (request, _response, next) =>
  request.path.startsWith('/api/') || request.accepts(['json', 'html']) !== 'html'
    ? next('router')
    : next();

const showUnknown: RequestHandler = (_request, response) =>
  sendErrorPage(response, 404, 'There is no page at this address. Check it for a typing error.');
