import type { RequestHandler } from 'express';
import { AppError, errorWithFix } from '../../platform/http/errorCatalogue.ts';
import { addressOf } from '../../platform/http/errors.ts';
import { SCREENS } from '../screens/screenPaths.ts';
import { operations, type NamedOperation } from './apiOperations.ts';

const PATTERNS = operations.map((operation) => ({
  operation,
  pattern: new RegExp(`^/api${operation.path.replace(/:[a-z_]+/g, '([^/]+)')}/?$`),
}));

/** The operations at a path, one for each method. @param path without a query */
export const operationsAt = (path: string): readonly NamedOperation[] =>
  PATTERNS.filter(({ pattern }) => pattern.test(path)).map(({ operation }) => operation);

const PLAIN_PATHS = /^\/(healthz|readyz|metrics|api\/openapi\.json|api\/docs(\/[a-z.-]+)*)?\/?$/;
/** Paths of the screens: words in lower case, and ids. */
const SCREEN_PATHS = new RegExp(
  `^/(${[...SCREENS].join('|')})(/([a-z-]{1,30}(\\.(js|css|svg))?|[a-z]+_[0-9A-Z]{26}))*/?$`,
);
/** The payment page. The token in its path opens it, so it is not logged. */
const PAY_PATH = /^\/pay\/[^/]*\/?$/;
/** Webhooks of channels and payment providers: `/api/channels/:type/webhook/:id`. */
const WEBHOOK_PATH = /^\/api\/(channels|payments)\/[^/]+\/webhook\/([^/]+)\/?$/;
const ID = /^[a-z]+_[0-9A-Z]{26}$/;

/**
 * A path that may be logged. A caller can put a key, a phone number or an e-mail into a path, so only
 * our ids stay and, on screens, words in lower case. An unknown path is not logged at all.
 */
export function loggablePath(path: string): string {
  if (PLAIN_PATHS.test(path) || SCREEN_PATHS.test(path)) return path;
  if (PAY_PATH.test(path)) return '/pay/:token';
  const [, kind, account] = WEBHOOK_PATH.exec(path) ?? [];
  if (kind !== undefined) return `/api/${kind}/:type/webhook/${keepId(account, ':id')}`;
  for (const { operation, pattern } of PATTERNS) {
    const values = pattern.exec(path)?.slice(1);
    if (values)
      return `/api${operation.path.replace(/:[a-z_]+/g, (name) => keepId(values.shift(), name))}`;
  }
  return '[unknown]';
}

const keepId = (value: string | undefined, name: string) =>
  value !== undefined && ID.test(value) ? value : name;

/** Answers requests that match no route: 405 if another method exists at the address, otherwise 404. */
export const refuseUnknown: RequestHandler = (request, response) => {
  const methods = operationsAt(request.path).map(({ method }) => method.toUpperCase());
  if (methods.length === 0) {
    throw new AppError(
      'not_found',
      `There is nothing at ${addressOf(request)}. See /api/docs for all endpoints.`,
    );
  }
  response.setHeader('Allow', [...new Set(methods)].join(', '));
  throw errorWithFix('method_not_allowed', `${request.method} is not possible here.`);
};
