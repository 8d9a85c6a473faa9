import type { Response } from 'express';
import type { Actor } from '../actor.ts';
import type { Operation } from './operation.ts';

/**
 * Who sends a request, by its API key or chat token. team/ adds the workspace and
 * channels/web_chat/ the visitor, by declaration merging.
 */
export interface Caller {
  /** The key under which the caller's requests are counted. */
  readonly rateKey: string;
  /** Recorded as the author of what the call does. */
  readonly actor: Actor;
  /** Left out when the caller may call every operation. @throws permission_missing (403) */
  assertMay?(operation: Operation): void;
}

/**
 * The caller, once its key or token has been checked; undefined before that, and on open routes.
 */
export const callerOf = (response: Response): Caller | undefined =>
  response.locals.caller as Caller | undefined;
