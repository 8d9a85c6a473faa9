// What the bench does with the service's API besides measuring it: customers, subscriptions.
import { randomUUID } from 'node:crypto';
import { waitFor } from '../helpers/waitFor.ts';
import type { RunningService } from './children.ts';
import { repeat } from './repeat.ts';

/** A message of a usual length. It holds the customer's own number: masking is part of the work. */
export const MESSAGE_TEXT =
  'Hello María, Tuesday at ten works for us. Call +54 9 11 5555 0134 if anything changes; order 20481 is on its way.';

export type Api = Pick<RunningService, 'url' | 'apiKey'>;

/** @throws Error when the answer's status is not 2xx */
export async function call<Answer>(
  { url, apiKey }: Api,
  method: string,
  path: string,
  body?: unknown,
  token = apiKey,
): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok)
    throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Answer;
}

/** @returns a customer's chat token */
export async function newCustomer(api: Api): Promise<string> {
  const claims = { name: 'María', email: 'maria@example.com', phone: '+54 9 11 5555 0134' };
  return (await call<{ token: string }>(api, 'POST', '/api/chat/sessions', claims)).token;
}

export const newCustomers = (api: Api, count = 16): Promise<string[]> =>
  repeat(count, () => newCustomer(api));

/** @returns the conversation's id */
export async function write(api: Api, token: string, text = MESSAGE_TEXT): Promise<string> {
  const message = { text, client_message_id: randomUUID() };
  return (
    await call<{ conversation_id: string }>(api, 'POST', '/api/chat/messages', message, token)
  ).conversation_id;
}

/** The customers write in turn. */
export const writeMany = (api: Api, customers: readonly string[], count: number) =>
  repeat(count, (n) => write(api, customers[n % customers.length]!));

/** @returns the subscription's id */
export async function subscribe(api: Api, event: string, targetUrl: string): Promise<string> {
  const wanted = { event, target_url: targetUrl, source: 'bench' };
  return (await call<{ id: string }>(api, 'POST', '/api/hooks', wanted)).id;
}

/** Waits until every delivery of the subscriptions has its result recorded. */
export async function waitUntilRecorded(
  api: Api,
  hooks: readonly string[],
  timeoutMs = 60_000,
): Promise<void> {
  for (const hook of hooks) {
    const path = `/api/hooks/${hook}/deliveries?status=pending&limit=1`;
    const isDone = async () =>
      (await call<{ data: unknown[] }>(api, 'GET', path)).data.length === 0;
    await waitFor('every result to be recorded', isDone, { timeoutMs, everyMs: 50 });
  }
}
