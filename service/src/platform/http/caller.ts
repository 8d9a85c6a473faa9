import type { Response } from 'express';
import type { Actor } from '../actor.ts';

/**
 * Who sends a request, by its API key or chat token. team/ adds the workspace and
 * channels/web_chat/ the visitor, by declaration merging.
 */
export interface Caller {
  /** The key under which the caller's requests are counted. */
  readonly rateKey: string;
  /** Recorded as the author of what the call does. */
  readonly actor: Actor;
}

/** The caller, once its key or token is checked; undefined before, and on open routes. */
export const callerOf = (response: Response): Caller | undefined =>
  response.locals.caller as Caller | undefined;
