import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { isExpired, mayCall, permissionFor, type ApiKey, type KeyPermission } from './apiKey.ts';
import type { Deps } from '../platform/deps.ts';
import { errorWithFix } from '../platform/http/errorCatalogue.ts';
import { findApiKey, isUseNoted, noteKeyUse } from './operations/apiKeys.ts';
import type { Caller } from '../platform/http/caller.ts';
import { stopCounting } from '../platform/http/server/connections.ts';
import type { WrongKeys } from '../platform/http/server/wrongKeys.ts';

/** The token that a request carries in its Authorization header, or null. */
export const bearer = (request: Request): string | null =>
  /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;

/**
 * Lets requests through whose bearer token `identify` knows.
 * @param identify returns the caller; null for an unknown token; a sentence for one that it refuses
 * @throws unauthorized (401)
 */
export const requireBearer =
  (
    words: { missing: string; wrong: string },
    identify: (token: string, request: Request) => Promise<Caller | string | null>,
  ): RequestHandler =>
  async (request: Request, response: Response, next: NextFunction) => {
    const token = bearer(request);
    const callerOrReason = token === null ? words.missing : await identify(token, request);
    if (callerOrReason === null || typeof callerOrReason === 'string') {
      response.setHeader('WWW-Authenticate', 'Bearer');
      throw errorWithFix('unauthorized', callerOrReason ?? words.wrong);
    }
    response.locals.caller = callerOrReason;
    if (!callerOrReason.contact) stopCounting(request);
    next();
  };

/**
 * Lets requests with a valid API key through.
 * @throws unauthorized (401), or rate_limited (429) after too many wrong keys
 */
export const requireApiKey = (deps: Deps, wrongKeys: WrongKeys): RequestHandler => {
  const recordUse = useRecorder(deps);
  return requireBearer(
    { missing: 'The request carries no API key.', wrong: 'The API key is wrong or was revoked.' },
    async (key, request) => {
      await wrongKeys.checkAddress(request, key);
      const found = await findApiKey(deps, key);
      if (!found || isExpired(found.apiKey, deps.clock.now())) {
        await wrongKeys.countWrong(request, key);
        return found && expiredInWords(found.apiKey);
      }
      wrongKeys.noteValid(key);
      recordUse(found.apiKey, addressOf(request));
      return callerWith(found);
    },
  );
};

const callerWith = ({ apiKey, workspace }: NonNullable<Awaited<ReturnType<typeof findApiKey>>>) =>
  ({
    workspace,
    apiKey,
    rateKey: apiKey.id,
    actor: { type: 'api', name: apiKey.name },
    contact: null,
    assertMay(operation) {
      const needed = permissionFor(operation);
      if (needed !== null && !mayCall(apiKey, needed)) throw permissionMissing(apiKey, needed);
    },
  }) satisfies Caller;

const expiredInWords = ({ name, expiresAt }: ApiKey): string =>
  `The API key ${JSON.stringify(name)} expired at ${expiresAt}. Create another one on the Keys and subscriptions screen of the service.`;

/** The address that the request came from; behind a trusted proxy, the one that it forwards. */
const addressOf = ({ ip = '' }: Request): string => ip.replace(/^::ffff:(?=[\d.]+$)/, '');

/** The caller's key. @throws permission_missing (403) when it does not have the permission */
export function keyWith({ apiKey }: Caller, permission: KeyPermission): ApiKey {
  if (apiKey?.permissions?.includes(permission)) return apiKey;
  throw permissionMissing(apiKey, permission);
}

const permissionMissing = (apiKey: ApiKey | null, permission: string) =>
  errorWithFix(
    'permission_missing',
    `The API key ${JSON.stringify(apiKey?.name ?? '')} does not have the permission ${permission}.`,
  );

/** Records the use of keys without delaying calls. If it fails, the next call records it. */
function useRecorder(deps: Deps): (apiKey: ApiKey, address: string) => void {
  const underWay = new Set<string>();
  return (apiKey, address) => {
    if (underWay.has(apiKey.id) || isUseNoted(apiKey, deps.clock.now())) return;
    underWay.add(apiKey.id);
    void noteKeyUse(deps, apiKey, address)
      .catch(() => {})
      .finally(() => underWay.delete(apiKey.id));
  };
}
