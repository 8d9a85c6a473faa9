// What the bench does with the service's API beside measuring it: customers, subscriptions,
// backlogs.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningService } from './children.ts';

/** Of a usual length, with the customer's own number in it: masking is part of the work. */
export const MESSAGE_TEXT =
  'Hello María, Tuesday at ten works for us. Call +54 9 11 5555 0134 if anything changes; order 20481 is on its way.';

const WRITERS = 16;
const WAIT_MS = 30_000;

/** @throws Error when the answer is no 2xx */
export async function call<Answer>(
  { url, apiKey }: RunningService,
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
export async function newCustomer(service: RunningService): Promise<string> {
  const claims = { name: 'María', email: 'maria@example.com', phone: '+54 9 11 5555 0134' };
  return (await call<{ token: string }>(service, 'POST', '/api/chat/sessions', claims)).token;
}

/** @returns the conversation's id */
export async function write(service: RunningService, token: string): Promise<string> {
  const message = { text: MESSAGE_TEXT, client_message_id: randomUUID() };
  return (
    await call<{ conversation_id: string }>(service, 'POST', '/api/chat/messages', message, token)
  ).conversation_id;
}

export async function writeMany(
  service: RunningService,
  customers: readonly string[],
  count: number,
): Promise<void> {
  let written = 0;
  const writeOnAndOn = async () => {
    while (written < count) await write(service, customers[written++ % customers.length]!);
  };
  await Promise.all(Array.from({ length: WRITERS }, writeOnAndOn));
}

export async function subscribe(
  service: RunningService,
  event: string,
  targetUrl: string,
): Promise<string> {
  return (
    await call<{ id: string }>(service, 'POST', '/api/hooks', {
      event,
      target_url: targetUrl,
      source: 'bench',
    })
  ).id;
}

/** Waits until every result is recorded. */
export async function nothingPending(
  service: RunningService,
  hooks: readonly string[],
  withinMs = WAIT_MS,
): Promise<void> {
  const giveUpAt = Date.now() + withinMs;
  for (const hook of hooks) {
    while (
      (
        await call<{ data: unknown[] }>(
          service,
          'GET',
          `/api/hooks/${hook}/deliveries?status=pending&limit=1`,
        )
      ).data.length > 0
    ) {
      if (Date.now() > giveUpAt) throw new Error('deliveries are still pending');
      await sleep(50);
    }
  }
}
