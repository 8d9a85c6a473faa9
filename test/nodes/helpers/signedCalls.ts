// Calls of the service to a trigger, signed by hand as docs/events-and-signatures.md describes it.
import { createHmac } from 'node:crypto';
import { fetch, type Agent } from 'undici';
import { waitFor } from '../../helpers/waitFor.ts';
import type { Side } from './webhookHost.ts';

export const now = () => Math.floor(Date.now() / 1000);

export const sign = (secret: string, t: number | string, body: string) =>
  `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`;

export interface CallOptions {
  body?: string;
  secret?: string;
  t?: number | string;
  signature?: string;
  /** Added to the headers of every call, or replacing them; undefined removes one. */
  headers?: Record<string, string | undefined>;
  signal?: AbortSignal;
}

interface Call extends CallOptions {
  agent: Agent;
  body: string;
  secret: string;
}

export async function sendCall(
  side: Side,
  { agent, body, secret, t = now(), signature = sign(secret, t, body), headers, signal }: Call,
) {
  const all: Record<string, string | undefined> = {
    'content-type': 'application/json',
    'x-service-signature': signature,
    ...headers,
  };
  const response = await fetch(side.url, {
    method: 'POST',
    body,
    headers: Object.entries(all).filter((each): each is [string, string] => each[1] !== undefined),
    dispatcher: agent,
    signal,
  });
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    retryAfter: response.headers.get('retry-after'),
    text: await response.text(),
  };
}

/** Lets a test decide when and how the workflow ends. */
export function heldBack(side: Side) {
  const started = Promise.withResolvers<true>();
  const hungUp = Promise.withResolvers<true>();
  const end = Promise.withResolvers<{ status: number; body: unknown }>();
  const finished = Promise.withResolvers<true>();
  side.startExecution = async (json, res) => {
    side.executions.push(json);
    res.once('close', () => hungUp.resolve(true));
    started.resolve(true);
    const { status, body } = await end.promise;
    res.status(status).json(body);
    finished.resolve(true);
  };
  return {
    started: started.promise,
    /** The host knows that the caller has hung up. */
    hungUp: hungUp.promise,
    /** Waits until the trigger has had so many calls, repeats that wait included. */
    called: (times: number) => waitFor(`${times} calls`, () => side.calls === times),
    finish(status: number, body: unknown): Promise<true> {
      end.resolve({ status, body });
      return finished.promise;
    },
  };
}
