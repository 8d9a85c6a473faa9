import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { countTurns } from '../agent/webhook/turnMetrics.ts';
import type { Clock } from '../platform/clock.ts';
import type { ServiceStore } from '../store/collections.ts';
import { countBounds } from '../platform/metrics/boundMetrics.ts';
import { countDeliveries } from '../deliveries/deliveryMetrics.ts';
import { gauge } from '../platform/metrics/gauge.ts';
import { watchProcess } from '../platform/metrics/processMetrics.ts';
import { SCREENS } from './screens/screenPaths.ts';
import { measureRequests } from '../platform/metrics/requestMetrics.ts';
import { watchStalls } from '../platform/metrics/stallWatch.ts';
import { watchStore } from '../platform/metrics/storeMetrics.ts';
import { countWaits } from '../waits/waitMetrics.ts';
import { watchSubscriptions } from '../deliveries/subscriptionMetrics.ts';

/** The first segments of all paths outside the API. */
const PAGES: ReadonlySet<string> = new Set([...SCREENS, 'healthz', 'readyz', 'metrics', 'pay']);

export type ServiceMetrics = ReturnType<typeof createMetrics>;

/**
 * The metrics of one service. Each service has a registry of its own, so that the metrics of
 * several services in one process do not mix.
 */
export function createMetrics(
  store: Pick<ServiceStore, 'stats' | 'fault' | 'pressure' | 'transaction'>,
  clock: Clock,
  log: Pick<Logger, 'warn'>,
) {
  const registry = new Registry();
  const deliveries = countDeliveries(registry, clock);
  const waits = countWaits(registry, store);
  const turns = countTurns(registry, store);
  const requests = measureRequests(registry, PAGES);
  const boundReached = countBounds(registry);
  watchStore(registry, store);
  watchSubscriptions(registry, store);
  const stalls = watchStalls(log);
  const stopWatchingProcess = watchProcess(registry, stalls.longestMs);
  return {
    deliveries,
    waits,
    turns,
    requests,
    boundReached,
    /** For how long the event loop stood still at most, within the last five minutes. */
    longestStallMs: stalls.longestMs,
    /** Adds the time since the delivery worker last looked for jobs. */
    watchLoop(sinceLastTurnMs: () => number): void {
      gauge(
        registry,
        'conversation_service_delivery_loop_idle_seconds',
        'Time since the delivery worker last looked for jobs; from 30 on, /readyz fails.',
        () => sinceLastTurnMs() / 1000,
      );
    },
    /** In Prometheus' text format. */
    async read() {
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
    stop(): void {
      stopWatchingProcess();
      stalls.stop();
    },
  };
}
