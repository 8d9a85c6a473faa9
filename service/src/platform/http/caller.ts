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
  /** @throws permission_missing (403). Left out: the caller may call every operation. */
  assertMay?(operation: Operation): void;
}

/** The caller, once its key or token is checked; undefined before, and on open routes. */
export const callerOf = (response: Response): Caller | undefined =>
  response.locals.caller as Caller | undefined;
