import { Counter, Histogram, type Registry } from 'prom-client';
import type { AttemptResult } from '../delivery/attempt.ts';
import type { DeliveryObserver } from '../delivery/deliveryObserver.ts';
import type { Clock } from '../domain/clock.ts';
import type { Delivery } from '../domain/delivery.ts';
import { EVENT_NAMES } from '../domain/event.ts';
import { statusClass } from './statusClass.ts';

const OUTCOMES = ['delivered', 'failed', 'cancelled'] as const;

/** Up to the longest DELIVERY_TIMEOUT_MS; most lies within the default of 10 s. */
const ATTEMPT_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 7.5, 10, 15, 30, 60, 120];
/**
 * From at once to a delivery that used all its retries, and beyond: a receiver that was down for
 * hours.
 */
const WAIT_SECONDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600, 3600, 6 * 3600];

/**
 * Counts attempts and what became of deliveries. Labels have a few values each: never an address or
 * an id.
 */
export function countDeliveries(registry: Registry, clock: Clock): DeliveryObserver {
  const registers = [registry];
  const ended = new Counter({
    name: 'conversation_service_deliveries_total',
    help: 'Deliveries that have come to an end, by outcome and event. One that is sent again counts once more.',
    labelNames: ['outcome', 'event'],
    registers,
  });
  for (const outcome of OUTCOMES) for (const event of EVENT_NAMES) ended.inc({ outcome, event }, 0);
  const attempts = new Counter({
    name: 'conversation_service_delivery_attempts_total',
    help: 'HTTP tries of deliveries, by class of the status (none: no answer came) and, for none, by what went wrong.',
    labelNames: ['status_class', 'error'],
    registers,
  });
  for (const answered of ['2xx', '3xx', '4xx', '5xx'])
    attempts.inc({ status_class: answered, error: '' }, 0);
  const duration = new Histogram({
    name: 'conversation_service_delivery_attempt_duration_seconds',
    help: 'How long one HTTP try of a delivery took, from connecting to the end of the answer.',
    labelNames: ['status_class'],
    buckets: ATTEMPT_SECONDS,
    registers,
  });
  const wait = new Histogram({
    name: 'conversation_service_delivery_wait_seconds',
    help: 'From the event to its arrival, retries included, for what arrived without being sent again by hand.',
    buckets: WAIT_SECONDS,
    registers,
  });

  return {
    attempted({ statusCode, errorKind, durationMs }: AttemptResult) {
      const status_class = statusClass(statusCode);
      attempts.inc({ status_class, error: errorKind ?? '' });
      duration.observe({ status_class }, durationMs / 1000);
    },
    ended(delivery: Delivery) {
      const outcome = outcomeOf(delivery);
      ended.inc({ outcome, event: delivery.event });
      if (outcome !== 'delivered' || delivery.trigger === 'manual') return;
      // A clock that was set back must not take anything away from the sum.
      wait.observe(Math.max(0, clock.now().getTime() - Date.parse(delivery.createdAt)) / 1000);
    },
  };
}

/**
 * Of its last round: one that arrived once stays `delivered` on record when a second sending fails.
 */
function outcomeOf({ status, attempts }: Delivery): (typeof OUTCOMES)[number] {
  if (status === 'cancelled') return 'cancelled';
  return attempts.at(-1)?.error === null ? 'delivered' : 'failed';
}
