import type { Response } from 'express';
import type { Contact } from '../../conversations/contact.ts';
import type { Actor } from '../../conversations/conversation.ts';
import type { Workspace } from '../../team/workspace.ts';

/** Who sends a request, by its API key or chat token. */
export interface Caller {
  readonly workspace: Workspace;
  /** The key under which the caller's requests are counted. */
  readonly rateKey: string;
  /** Recorded as the author of what the call does. */
  readonly actor: Actor;
  /** The visitor whose chat token it is; null for an API key. */
  readonly contact: Contact | null;
}

/** The caller, once its key or token is checked; undefined before, and on open routes. */
export const callerOf = (response: Response): Caller | undefined =>
  response.locals.caller as Caller | undefined;

/** The visitor who calls. Use it only on routes after `requireChatToken`. */
export function visitorOf(caller: Caller): Contact {
  if (!caller.contact) throw new Error('this route needs requireChatToken before it');
  return caller.contact;
}
