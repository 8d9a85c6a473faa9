import { Counter, Histogram, type Registry } from 'prom-client';
import type { AttemptResult } from './sending/attempt.ts';
import type { DeliveryObserver } from './sending/dispatcher.ts';
import type { Clock } from '../platform/clock.ts';
import type { Delivery } from './delivery.ts';
import { EVENT_NAMES } from './event.ts';
import { statusClass } from '../platform/metrics/requestMetrics.ts';

const OUTCOMES = ['delivered', 'failed', 'cancelled'] as const;

/** Up to the longest DELIVERY_TIMEOUT_MS. Most attempts stay within the default of 10 s. */
const ATTEMPT_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 7.5, 10, 15, 30, 60, 120];
/** Wide enough for deliveries that needed many retries, to receivers that were down for hours. */
const WAIT_SECONDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600, 3600, 6 * 3600];

/** Counts attempts and ended deliveries. No label holds an address or an id. */
export function countDeliveries(registry: Registry, clock: Clock): DeliveryObserver {
  const registers = [registry];
  const ended = new Counter({
    name: 'conversation_service_deliveries_total',
    help: 'Deliveries that ended, by outcome and event. A delivery that is sent again counts again.',
    labelNames: ['outcome', 'event'],
    registers,
  });
  for (const outcome of OUTCOMES) for (const event of EVENT_NAMES) ended.inc({ outcome, event }, 0);
  const attempts = new Counter({
    name: 'conversation_service_delivery_attempts_total',
    help: 'Delivery attempts, by status class (none: no answer) and, without an answer, by error.',
    labelNames: ['status_class', 'error'],
    registers,
  });
  for (const status_class of ['2xx', '3xx', '4xx', '5xx'])
    attempts.inc({ status_class, error: '' }, 0);
  const duration = new Histogram({
    name: 'conversation_service_delivery_attempt_duration_seconds',
    help: 'Duration of a delivery attempt, from connecting to the end of the answer.',
    labelNames: ['status_class'],
    buckets: ATTEMPT_SECONDS,
    registers,
  });
  const wait = new Histogram({
    name: 'conversation_service_delivery_wait_seconds',
    help: 'Time from the event to its arrival, retries included. Deliveries that a person sent again are left out.',
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
      // A clock that was set back must not give a negative wait.
      wait.observe(Math.max(0, clock.now().getTime() - Date.parse(delivery.createdAt)) / 1000);
    },
  };
}

/** The outcome of the last attempt. It can be `failed` while the status stays `delivered`. */
function outcomeOf({ status, attempts }: Delivery): (typeof OUTCOMES)[number] {
  if (status === 'cancelled') return 'cancelled';
  return attempts.at(-1)?.error === null ? 'delivered' : 'failed';
}
