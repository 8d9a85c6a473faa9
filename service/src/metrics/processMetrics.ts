import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, type Registry } from 'prom-client';

const RESOLUTION_MS = 10;
const NANOSECONDS = 1e9;

/**
 * The process itself, under the names that dashboards for Node know. The delay of the event loop is
 * measured anew between one reading and the next; the longest stall is not lost when somebody else
 * reads.
 * @returns the way to stop measuring
 */
export function watchProcess(registry: Registry, longestStallMs: () => number): () => void {
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });

  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  // The histogram holds whole intervals of the timer; what goes beyond one is the delay.
  const seconds = (nanoseconds: number) =>
    Number.isFinite(nanoseconds)
      ? Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS / 1000)
      : 0;
  gauge(
    'nodejs_eventloop_lag_p50_seconds',
    'Delay of the event loop since the last reading, median.',
    () => seconds(delay.percentile(50)),
  );
  gauge(
    'nodejs_eventloop_lag_p99_seconds',
    'Delay of the event loop since the last reading, 99th percentile.',
    () => seconds(delay.percentile(99)),
  );
  gauge(
    'nodejs_eventloop_lag_max_seconds',
    'Delay of the event loop since the last reading, longest.',
    () => {
      const longest = delay.count === 0 ? 0 : seconds(delay.max);
      delay.reset(); // the last of the three to be read
      return longest;
    },
  );

  gauge(
    'conversation_service_longest_stall_seconds',
    'How long the event loop stood still at a time, the longest of the last five minutes; reading it changes nothing.',
    () => longestStallMs() / 1000,
  );

  gauge('process_resident_memory_bytes', 'Memory of the process.', () => process.memoryUsage.rss());
  gauge(
    'nodejs_heap_size_used_bytes',
    'Memory of JavaScript objects.',
    () => process.memoryUsage().heapUsed,
  );
  gauge(
    'process_start_time_seconds',
    'When the process started.',
    () => (Date.now() - process.uptime() * 1000) / 1000,
  );
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time of the process.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  return () => void delay.disable();
}
