import type { CookieOptions, NextFunction, Request, RequestHandler, Response } from 'express';
import type { Actor } from '../domain/conversation.ts';
import type { Deps } from '../domain/deps.ts';
import { findSession, type SignedIn } from '../domain/operations/findSession.ts';
import { MAX_SESSION_MS } from '../domain/session.ts';
import { noLongerStranger } from '../http/connections.ts';
import { isSameText } from '../security/isSameText.ts';
import { refusePage } from './errorPage.ts';

const COOKIE = 'cs_session';

const cookieOptions = (isHttps: boolean): CookieOptions => ({
  httpOnly: true,
  sameSite: 'lax',
  secure: isHttps,
  path: '/',
});

/**
 * Gives the browser its session. @param isHttps whether the service's public address is https://
 */
export const setSessionCookie = (response: Response, token: string, isHttps: boolean): void =>
  void response.cookie(COOKIE, token, { ...cookieOptions(isHttps), maxAge: MAX_SESSION_MS });

export const clearSessionCookie = (response: Response, isHttps: boolean): void =>
  void response.clearCookie(COOKIE, cookieOptions(isHttps));

/** The session's token in a request's cookies, or null. */
export function sessionToken(request: Request): string | null {
  const cookies = (request.headers.cookie ?? '').split(';').map((each) => each.trim());
  const value = cookies.find((each) => each.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1);
  return value !== undefined && /^[\w-]{43}$/.test(value) ? value : null;
}

/**
 * Lets members through; sends everybody else to the sign-in page, and afterwards back to where they
 * wanted to go.
 */
export const requireMember =
  (deps: Pick<Deps, 'store' | 'clock'>): RequestHandler =>
  async (request: Request, response: Response, next: NextFunction) => {
    const token = sessionToken(request);
    const signedIn = token === null ? null : await findSession(deps, token);
    if (signedIn) {
      response.locals.signedIn = signedIn;
      noLongerStranger(request);
      return next();
    }
    const target =
      request.method === 'GET' && !request.get('hx-request')
        ? `/sign-in?next=${encodeURIComponent(request.originalUrl)}`
        : '/sign-in';
    if (request.get('hx-request')) response.set('HX-Redirect', target).status(401).end();
    else response.redirect(303, target);
  };

/** Who is signed in; only behind requireMember. */
export const signedInOf = (response: Response): SignedIn => response.locals.signedIn as SignedIn;

/** How a member is named in what they do. */
export const actorOf = ({ member }: SignedIn): Actor => ({
  type: 'team_member',
  name: member.name,
  memberId: member.id,
});

/** Refuses what a page of another site makes a browser post. */
export const refuseCrossSite: RequestHandler = (request, response, next) => {
  if (request.method === 'GET' || request.method === 'HEAD') return next();
  const site = request.get('sec-fetch-site');
  const origin = request.get('origin');
  const isForeign =
    site !== undefined
      ? site !== 'same-origin' && site !== 'none'
      : origin !== undefined && URL.parse(origin)?.host !== request.get('host');
  if (isForeign)
    refusePage(
      response,
      403,
      'This form was sent from another site. Open the page here and send it again.',
    );
  else next();
};

/** Demands the session's token with every change: in the form, or in the header that htmx sends. */
export const requireCsrfToken: RequestHandler = (request, response, next) => {
  if (request.method === 'GET' || request.method === 'HEAD') return next();
  const { csrf } = (request.body ?? {}) as { csrf?: unknown };
  const given = request.get('x-csrf-token') ?? csrf;
  const expected = signedInOf(response).csrfToken;
  if (typeof given === 'string' && isSameText(given, expected)) next();
  else
    refusePage(
      response,
      403,
      'This form is too old or was not made here. Load the page again and send it once more.',
    );
};
