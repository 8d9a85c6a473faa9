// Calls of the service to a trigger, signed by hand as docs/events-and-signatures.md describes it.
import { createHmac } from 'node:crypto';
import { fetch, type Agent } from 'undici';
import type { Side } from './webhookHost.ts';

export const now = () => Math.floor(Date.now() / 1000);

export const sign = (secret: string, t: number | string, body: string) =>
  `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`;

export interface CallOptions {
  body?: string;
  secret?: string;
  t?: number | string;
  /** Null: none. */
  signature?: string | null;
  signal?: AbortSignal;
}

interface Call extends CallOptions {
  agent: Agent;
  body: string;
  secret: string;
}

export async function sendCall(
  side: Side,
  { agent, body, secret, t = now(), signature = sign(secret, t, body), signal }: Call,
) {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    ...(signature === null ? {} : { 'x-service-signature': signature }),
  };
  const response = await fetch(side.url, {
    method: 'POST',
    body,
    headers,
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

/** Long enough for a call that was sent to be with the trigger. */
export const arrived = () => new Promise((resolve) => setTimeout(resolve, 100));

/** Lets a test decide when and how the workflow ends. */
export function heldBack(side: Side) {
  const started = Promise.withResolvers<true>();
  const end = Promise.withResolvers<{ status: number; body: unknown }>();
  side.startExecution = async (json, res) => {
    side.executions.push(json);
    started.resolve(true);
    const { status, body } = await end.promise;
    res.status(status).json(body);
  };
  return {
    started: started.promise,
    finish: (status: number, body: unknown) => end.resolve({ status, body }),
  };
}
