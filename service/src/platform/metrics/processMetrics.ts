import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, type Registry } from 'prom-client';
import { gauge } from './gauge.ts';

const RESOLUTION_MS = 10;
const NANOSECONDS_PER_SECOND = 1e9;

/**
 * Metrics of the process, under the names that dashboards for Node use. Reading the event loop
 * delay starts its measurement again; reading the longest stall does not.
 * @returns a function that stops measuring
 */
export function watchProcess(registry: Registry, longestStallMs: () => number): () => void {
  const stopMeasuring = watchEventLoop(registry);
  gauge(
    registry,
    'conversation_service_longest_stall_seconds',
    'The longest time within the last five minutes for which the event loop stood still.',
    () => longestStallMs() / 1000,
  );
  gauge(registry, 'process_resident_memory_bytes', 'Memory of the process.', () =>
    process.memoryUsage.rss(),
  );
  gauge(
    registry,
    'nodejs_heap_size_used_bytes',
    'Memory of JavaScript objects.',
    () => process.memoryUsage().heapUsed,
  );
  gauge(
    registry,
    'process_start_time_seconds',
    'When the process started.',
    () => performance.timeOrigin / 1000,
  );
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time of the process.',
    registers: [registry],
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  return stopMeasuring;
}

function watchEventLoop(registry: Registry): () => void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  // The histogram holds whole intervals of its timer. What exceeds RESOLUTION_MS is the delay.
  const seconds = (nanoseconds: number) =>
    Number.isFinite(nanoseconds)
      ? Math.max(0, nanoseconds / NANOSECONDS_PER_SECOND - RESOLUTION_MS / 1000)
      : 0;
  const lag = (name: string, which: string, read: () => number) =>
    gauge(
      registry,
      `nodejs_eventloop_lag_${name}_seconds`,
      `Delay of the event loop since the last reading, ${which}.`,
      read,
    );
  lag('p50', 'median', () => seconds(delay.percentile(50)));
  lag('p99', '99th percentile', () => seconds(delay.percentile(99)));
  lag('max', 'longest', () => {
    const longest = delay.count === 0 ? 0 : seconds(delay.max);
    delay.reset(); // this is the last of the three to be read
    return longest;
  });
  return () => void delay.disable();
}
