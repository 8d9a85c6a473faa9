import { Gauge, type Registry } from 'prom-client';
import type { ServiceStore } from '../../store/collections.ts';
import type { QueueStats, StorePressure } from '../../store/store.ts';
import { gauge } from './gauge.ts';

type Watched = Pick<ServiceStore, 'stats' | 'fault' | 'pressure'>;

/** Metrics of the store's queues, memory and files, read each time that /metrics is requested. */
export function watchStore(registry: Registry, store: Watched): void {
  watchQueues(registry, store);
  watchFiles(registry, store);
  if (store.pressure !== null) watchMemory(registry, () => store.pressure!);
  gauge(
    registry,
    'conversation_service_store_fault',
    '1 while the store cannot write (the disk is full or failing), otherwise 0.',
    () => (store.fault === null ? 0 : 1),
  );
}

function watchQueues(registry: Registry, store: Watched): void {
  const queueGauge = (name: string, help: string, of: (queue: QueueStats) => number) =>
    new Gauge({
      name: `conversation_service_queue_${name}`,
      help,
      labelNames: ['queue'],
      registers: [registry],
      async collect() {
        const { queues } = await store.stats();
        this.reset();
        for (const [queue, stats] of Object.entries(queues)) this.set({ queue }, of(stats));
      },
    });
  queueGauge(
    'waiting_jobs',
    'Jobs that wait, for their time or for a free place.',
    ({ waiting }) => waiting,
  );
  queueGauge('jobs_in_flight', 'Jobs that are under way.', ({ claimed }) => claimed);
  queueGauge(
    'oldest_due_age_seconds',
    'How long the oldest due job has waited; 0 when none is due.',
    ({ oldestDueMs }) => (oldestDueMs ?? 0) / 1000,
  );
}

function watchMemory(registry: Registry, pressure: () => StorePressure): void {
  const memoryGauge = (name: string, help: string, of: (pressure: StorePressure) => number) =>
    gauge(registry, `conversation_service_store_memory_${name}`, help, () => of(pressure()));
  memoryGauge(
    'live_bytes',
    'Live heap after the last major collection: the stored data and the service itself.',
    ({ liveBytes }) => liveBytes,
  );
  memoryGauge('limit_bytes', 'The limit of the heap.', ({ limitBytes }) => limitBytes);
  memoryGauge(
    'visitors_mark_bytes',
    'From here on, new chats are refused.',
    ({ limitBytes, marks }) => limitBytes * marks.visitors,
  );
  memoryGauge(
    'largest_share',
    'The share of all stored data that the largest workspace stores, from 0 to 1.',
    ({ largestShare }) => largestShare,
  );
  memoryGauge(
    'mark_bytes',
    'From here on, everything that adds data to the store is refused.',
    ({ limitBytes, marks }) => limitBytes * marks.additions,
  );
}

type FileStats = NonNullable<Awaited<ReturnType<Watched['stats']>>['files']>;

function watchFiles(registry: Registry, store: Watched): void {
  const fileGauge = (name: string, help: string, of: (files: FileStats) => number | null) =>
    gauge(registry, `conversation_service_store_${name}`, help, async () => {
      const { files } = await store.stats();
      return (files && of(files)) ?? 0;
    });
  fileGauge(
    'journal_bytes',
    'Length of the journal that the next start replays.',
    ({ journalBytes }) => journalBytes,
  );
  fileGauge(
    'snapshot_bytes',
    'Length of the last snapshot; 0 without one.',
    ({ snapshotBytes }) => snapshotBytes,
  );
  fileGauge(
    'snapshot_timestamp_seconds',
    'When the last snapshot was finished; 0 without one.',
    ({ snapshotAt }) => (snapshotAt === null ? null : snapshotAt / 1000),
  );
}
