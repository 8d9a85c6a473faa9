import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Deps } from '../domain/deps.ts';
import type { Contact } from '../domain/contact.ts';
import type { Actor } from '../domain/conversation.ts';
import { AppError, ERROR_CATALOGUE } from '../domain/errorCatalogue.ts';
import { findApiKey } from '../domain/operations/findApiKey.ts';
import { findChatVisitor } from '../domain/operations/findChatVisitor.ts';
import type { Workspace } from '../domain/workspace.ts';

/** Who calls, once known. */
export interface Caller {
  readonly workspace: Workspace;
  /** What requests are counted by. */
  readonly rateKey: string;
  /** For an API key: how the caller is named in what it does. */
  readonly actor: Actor;
  /** For a chat token: whose it is. */
  readonly contact: Contact | null;
}

/** The token that a request carries in its Authorization header, or null. */
export const bearer = (request: Request): string | null => /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;

/** Lets through who carries a bearer token that `identify` knows. @throws unauthorized (401), in these words */
const requireBearer =
  (words: { missing: string; wrong: string }, identify: (token: string) => Promise<Caller | null>): RequestHandler =>
  async (request: Request, response: Response, next: NextFunction) => {
    const token = bearer(request);
    const caller = token === null ? null : await identify(token);
    if (!caller) {
      response.setHeader('WWW-Authenticate', 'Bearer');
      throw new AppError('unauthorized', `${token === null ? words.missing : words.wrong} ${ERROR_CATALOGUE.unauthorized.fix}`);
    }
    response.locals.caller = caller;
    next();
  };

/** Lets through who carries a valid API key. @throws unauthorized (401) */
export const requireApiKey = (deps: Deps): RequestHandler =>
  requireBearer({ missing: 'The request carries no API key.', wrong: 'The API key is wrong or was revoked.' }, async (key) => {
    const found = await findApiKey(deps, key);
    return found && { workspace: found.workspace, rateKey: found.apiKey.id, actor: { type: 'api', name: found.apiKey.name }, contact: null };
  });

/** Lets through a visitor of the chat. @throws unauthorized (401) */
export const requireChatToken = (deps: Deps): RequestHandler =>
  requireBearer({ missing: 'The request carries no chat token.', wrong: 'The chat token is wrong.' }, async (token) => {
    const visitor = await findChatVisitor(deps, token);
    return visitor && { workspace: visitor.workspace, rateKey: visitor.contact.id, actor: { type: 'api', name: '' }, contact: visitor.contact };
  });

/** The visitor who calls; only behind requireChatToken. */
export function visitorOf(caller: Caller): Contact {
  if (!caller.contact) throw new Error('this route needs requireChatToken before it');
  return caller.contact;
}
