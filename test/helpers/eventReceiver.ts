import { createHmac } from 'node:crypto';
import { payloadSchema } from '../../service/src/events/payloadContract.ts';
import type { TestService } from './service.ts';
import {
  startTlsReceiver,
  type ReceivedRequest,
  type ReceiverHandler,
  type TlsReceiver,
} from './tls.ts';
import { waitFor } from './waitFor.ts';

export const EMITTED_EVENTS = [
  'conversation.opened',
  'conversation.qualified',
  'conversation.handed_over',
  'conversation.closed',
  'message.received',
  'message.sent',
] as const;

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- payloads are looked at field by field in the tests
type Payload = any;

export interface EventReceiver extends TlsReceiver {
  /** Subscribes this receiver; every request from then on is checked against the secret. */
  subscribe(
    service: Pick<TestService, 'api'>,
    event: string,
    path?: string,
  ): Promise<{ id: string; secret: string }>;
  /** The payloads received, of one event or of all. */
  payloads(event?: string): Payload[];
  /** Waits for the nth (from 1) payload of an event. */
  payload(event: string, nth?: number): Promise<Payload>;
  /** What was wrong with requests, in words. */
  readonly faults: readonly string[];
}

/**
 * Verifies a signature as docs/events-and-signatures.md tells a receiver to, without any code of
 * the service. @returns what is wrong with it; null when nothing is
 */
export function signatureFault(
  request: ReceivedRequest,
  secret: string,
  now = Date.now(),
): string | null {
  const header = String(request.headers['x-service-signature']);
  const parts = header.split(',').map((part) => part.split('=', 2) as [string, string]);
  const t = parts.find(([name]) => name === 't')?.[1] ?? '';
  if (!/^\d+$/.test(t)) return `no time in ${header}`;
  if (Math.abs(now / 1000 - Number(t)) > 300) return `t is too far from now in ${header}`;
  const expected = createHmac('sha256', secret)
    .update(`${t}.`)
    .update(request.rawBody)
    .digest('hex');
  return parts.some(([name, value]) => name === 'v1' && value === expected)
    ? null
    : `no v1 of ${header} is ${expected}`;
}

/** A TLS receiver that answers 200 (or what `answer` does) and checks all it gets. */
export async function startEventReceiver(
  answer: ReceiverHandler = (_request, response) => void response.end('ok'),
): Promise<EventReceiver> {
  const secrets = new Map<string, string>();
  const faults: string[] = [];
  const receiver = await startTlsReceiver((request, response, raw) => {
    const event = String(request.headers['x-service-event']);
    const payload = JSON.parse(request.rawBody.toString()) as Payload;
    const secret = secrets.get(`${event} ${request.path}`);
    const fault = secret === undefined ? null : signatureFault(request, secret);
    if (fault) faults.push(fault);
    const shape = payloadSchema.safeParse(payload);
    if (!shape.success) faults.push(`${event}: ${shape.error.message}`);
    if (payload.id !== request.headers['x-service-delivery'])
      faults.push('X-Service-Delivery is not the payload id');
    if (payload.event !== event) faults.push('X-Service-Event is not the payload event');
    if (request.headers['content-type'] !== 'application/json')
      faults.push('Content-Type is not application/json');
    answer(request, response, raw);
  });
  const payloads = (event?: string): Payload[] =>
    receiver.requests
      .map(({ rawBody }) => JSON.parse(rawBody.toString()) as Payload)
      .filter((payload) => event === undefined || payload.event === event);
  return Object.assign(receiver, {
    faults,
    payloads,
    async subscribe(service: Pick<TestService, 'api'>, event: string, path = '/events') {
      const { status, body } = await service.api.post('/api/hooks', {
        event,
        target_url: receiver.url + path,
        source: 'test',
      });
      if (status !== 201) throw new Error(`not subscribed: ${JSON.stringify(body)}`);
      secrets.set(`${event} ${path}`, body.secret);
      return { id: body.id as string, secret: body.secret as string };
    },
    payload: (event: string, nth = 1) =>
      waitFor(`${event} number ${nth}`, () => payloads(event)[nth - 1]),
  });
}
