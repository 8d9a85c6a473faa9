import type { CookieOptions, NextFunction, Request, RequestHandler, Response } from 'express';
import type { Actor } from '../platform/actor.ts';
import type { Deps } from '../platform/deps.ts';
import { findSession, type SignedIn, MAX_SESSION_MS } from './operations/sessions.ts';
import type { Workspace } from './workspace.ts';
import { stopCounting } from '../platform/http/server/connections.ts';
import { isSameText } from '../platform/security/tokens.ts';
import { sendErrorPage } from '../platform/html/errorPage.ts';

const COOKIE = 'cs_session';

const cookieOptions = (isHttps: boolean): CookieOptions => ({
  httpOnly: true,
  sameSite: 'lax',
  secure: isHttps,
  path: '/',
});

/** Signs a browser in. @param isHttps whether the service's public URL begins with https:// */
export const setSessionCookie = (response: Response, token: string, isHttps: boolean): void =>
  void response.cookie(COOKIE, token, { ...cookieOptions(isHttps), maxAge: MAX_SESSION_MS });

export const clearSessionCookie = (response: Response, isHttps: boolean): void =>
  void response.clearCookie(COOKIE, cookieOptions(isHttps));

/** The session token in a request's cookies, or null. */
export function sessionToken(request: Request): string | null {
  const cookies = (request.headers.cookie ?? '').split(';').map((each) => each.trim());
  const value = cookies.find((each) => each.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1);
  return value !== undefined && /^[\w-]{43}$/.test(value) ? value : null;
}

type SessionDeps = Pick<Deps, 'store' | 'clock'>;

/** Notes who is signed in, for pages that anyone may request. */
export const noteMember =
  (deps: SessionDeps): RequestHandler =>
  async (request, response, next) => {
    const token = sessionToken(request);
    const signedIn = token === null ? null : await findSession(deps, token);
    if (signedIn) {
      response.locals.signedIn = signedIn;
      stopCounting(request);
    }
    next();
  };

/** Lets members through. Everyone else signs in first, and then gets the page they asked for. */
export const requireMember = (deps: SessionDeps): RequestHandler[] => [
  noteMember(deps),
  refuseOthers,
];

const refuseOthers: RequestHandler = (request: Request, response: Response, next: NextFunction) => {
  if (signedInOf(response)) return next();
  // A part that refreshes itself must not lead away from a page on which somebody is typing.
  if (request.get('live-part')) return void response.status(401).end();
  const href = signInHref(request);
  if (request.get('hx-request')) return void response.set('HX-Redirect', href).status(401).end();
  response.redirect(303, href);
};

/**
 * The address of the sign-in page, which then leads to the requested page. If a form or a part of a
 * page was requested, it leads to the page that contains this form or part.
 */
function signInHref(request: Request): string {
  const to = (query: Record<string, string>) => `/sign-in?${new URLSearchParams(query).toString()}`;
  const isPart = request.get('hx-request') && !request.get('hx-boosted');
  if (request.method === 'GET' && !isPart) return to({ next: request.originalUrl });
  const { host, pathname, search } = URL.parse(request.get('referer') ?? '') ?? {};
  if (host !== request.get('host')) return '/sign-in';
  return to({ next: `${pathname}${search}`, notice: 'session-ended' });
}

/** The signed-in member. Use it only after requireMember. */
export const signedInOf = (response: Response): SignedIn => response.locals.signedIn as SignedIn;

export const workspaceOf = (response: Response): Workspace => signedInOf(response).workspace;

/** The member as the actor of what they do. */
export const actorOf = ({ member }: SignedIn): Actor => ({
  type: 'team_member',
  name: member.name,
  memberId: member.id,
});

/** Refuses forms that another site makes a browser post. */
export const refuseCrossSite: RequestHandler = (request, response, next) => {
  if (request.method === 'GET' || request.method === 'HEAD') return next();
  const site = request.get('sec-fetch-site');
  const origin = request.get('origin');
  const isForeign =
    site !== undefined
      ? site !== 'same-origin' && site !== 'none'
      : origin !== undefined && URL.parse(origin)?.host !== request.get('host');
  if (!isForeign) return next();
  const message = 'This form was sent from another site. Open the page here and send it again.';
  sendErrorPage(response, 403, message);
};

/** Requires the session's CSRF token with every change, in the form or in htmx's header. */
export const requireCsrfToken: RequestHandler = (request, response, next) => {
  if (request.method === 'GET' || request.method === 'HEAD') return next();
  const { csrf } = (request.body ?? {}) as { csrf?: unknown };
  const given = request.get('x-csrf-token') ?? csrf;
  const expected = signedInOf(response).csrfToken;
  if (typeof given === 'string' && isSameText(given, expected)) return next();
  const message = 'This form is out of date. Reload the page and send it again.';
  sendErrorPage(response, 403, message);
};
