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

const bearer = (request: Request): string | null => /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;

const unauthorized = (response: Response, message: string) => {
  response.setHeader('WWW-Authenticate', 'Bearer');
  return new AppError('unauthorized', `${message} ${ERROR_CATALOGUE.unauthorized.fix}`);
};

/** Lets through who carries a valid API key. @throws unauthorized (401) */
export const requireApiKey =
  (deps: Deps): RequestHandler =>
  async (request: Request, response: Response, next: NextFunction) => {
    const key = bearer(request);
    if (key === null) throw unauthorized(response, 'The request carries no API key.');
    const found = await findApiKey(deps, key);
    if (!found) throw unauthorized(response, 'The API key is wrong or was revoked.');
    const { workspace, apiKey } = found;
    response.locals.caller = { workspace, rateKey: apiKey.id, actor: { type: 'api', name: apiKey.name }, contact: null } satisfies Caller;
    next();
  };

/** Lets through a visitor of the chat. @throws unauthorized (401) */
export const requireChatToken =
  (deps: Deps): RequestHandler =>
  async (request: Request, response: Response, next: NextFunction) => {
    const token = bearer(request);
    if (token === null) throw unauthorized(response, 'The request carries no chat token.');
    const visitor = await findChatVisitor(deps, token);
    if (!visitor) throw unauthorized(response, 'The chat token is wrong.');
    const { workspace, contact } = visitor;
    response.locals.caller = { workspace, rateKey: contact.id, actor: { type: 'api', name: '' }, contact } satisfies Caller;
    next();
  };

/** The visitor who calls; only behind requireChatToken. */
export function visitorOf(caller: Caller): Contact {
  if (!caller.contact) throw new Error('this route needs requireChatToken before it');
  return caller.contact;
}
