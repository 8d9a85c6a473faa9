import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ReceivedRequest } from '../helpers/tls.ts';

/** What one target accepted. */
export interface TargetLedger {
  /** The ids of the accepted events, by the message that they carried. */
  readonly eventsOf: ReadonlyMap<string, ReadonlySet<string>>;
  /** The number of accepted requests, repeats included. */
  readonly accepted: number;
}

/**
 * The receivers' side of the account: which message arrived where, under which event id, and
 * whether every repeat was the same bytes under the same id.
 */
export class DeliveryLedger {
  readonly #secrets = new Map<string, string[]>();
  readonly #targets = new Map<string, { eventsOf: Map<string, Set<string>>; accepted: number }>();
  readonly #bodies = new Map<string, string>();
  readonly faults: string[] = [];

  /** Adds a secret that a target knows, of a new subscription or of a rotation. */
  learn(path: string, secret: string): void {
    this.#secrets.set(path, [...(this.#secrets.get(path) ?? []), secret]);
  }

  /** Whether a `v1` signature matches a secret that the target knows. */
  verifies({ path, headers, rawBody }: ReceivedRequest): boolean {
    const parts = String(headers['x-service-signature'])
      .split(',')
      .map((part) => part.split('=', 2) as [string, string]);
    const t = parts.find(([name]) => name === 't')?.[1] ?? '';
    return (this.#secrets.get(path) ?? []).some((secret) => {
      const expected = createHmac('sha256', secret).update(`${t}.`).update(rawBody).digest();
      return parts.some(
        ([name, hex]) =>
          name === 'v1' && hex.length === 64 && timingSafeEqual(Buffer.from(hex, 'hex'), expected),
      );
    });
  }

  /**
   * Notes a request, also one that is then refused. Its bytes must be those of the event's other
   * attempts.
   */
  note({ headers, rawBody }: ReceivedRequest): void {
    const eventId = String(headers['x-service-delivery']);
    const body = rawBody.toString();
    const earlier = this.#bodies.get(eventId);
    if (earlier === undefined) this.#bodies.set(eventId, body);
    else if (earlier !== body) this.faults.push(`${eventId} was sent with two bodies`);
  }

  /** Records a request that the target answers with a 2xx. */
  accept({ path, headers, rawBody }: ReceivedRequest): void {
    const target = this.#of(path);
    target.accepted += 1;
    const { id, message } = JSON.parse(rawBody.toString()) as {
      id: string;
      message: { id: string };
    };
    if (id !== headers['x-service-delivery'])
      this.faults.push(`${id} came under another X-Service-Delivery`);
    const events = target.eventsOf.get(message.id);
    if (events) events.add(id);
    else target.eventsOf.set(message.id, new Set([id]));
  }

  at(path: string): TargetLedger {
    return this.#of(path);
  }

  #of(path: string) {
    let target = this.#targets.get(path);
    if (!target) this.#targets.set(path, (target = { eventsOf: new Map(), accepted: 0 }));
    return target;
  }
}
