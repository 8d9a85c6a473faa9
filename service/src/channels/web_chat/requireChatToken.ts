import type { RequestHandler } from 'express';
import type { Contact } from '../../conversations/index.ts';
import type { Deps } from '../../platform/deps.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { requireBearer } from '../../team/index.ts';
import { findChatVisitor } from './chatOperations.ts';

declare module '../../platform/http/caller.ts' {
  interface Caller {
    /** The visitor whose chat token the request has; null for an API key. */
    readonly contact: Contact | null;
  }
}

/** The visitor who calls. Use it only on routes after `requireChatToken`. */
export function visitorOf(caller: Caller): Contact {
  if (!caller.contact) throw new Error('this route needs requireChatToken before it');
  return caller.contact;
}

/** Lets requests with a valid chat token through. @throws unauthorized (401) */
export const requireChatToken = (deps: Deps): RequestHandler =>
  requireBearer(
    { missing: 'The request carries no chat token.', wrong: 'The chat token is wrong.' },
    async (token) => {
      const visitor = await findChatVisitor(deps, token);
      return (
        visitor && {
          workspace: visitor.workspace,
          rateKey: visitor.contact.id,
          actor: { type: 'api', name: '' },
          apiKey: null,
          contact: visitor.contact,
        }
      );
    },
  );
