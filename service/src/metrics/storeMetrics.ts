import { Gauge, type Registry } from 'prom-client';
import type { ServiceStore } from '../domain/collections.ts';
import type { QueueStats, StorePressure } from '../store/store.ts';

type Watched = Pick<ServiceStore, 'stats' | 'fault' | 'pressure'>;

/** What the store says of its queues and files, asked at each reading. */
export function watchStore(registry: Registry, store: Watched): void {
  watchQueues(registry, store);
  watchFiles(registry, store);
  if (store.pressure !== null) watchMemory(registry, () => store.pressure!);
  new Gauge({
    name: 'conversation_service_store_fault',
    help: '1 while the store cannot write (the disk is full, or failing), else 0.',
    registers: [registry],
    collect() {
      this.set(store.fault === null ? 0 : 1);
    },
  });
}

function watchQueues(registry: Registry, store: Watched): void {
  const gauge = (name: string, help: string, of: (queue: QueueStats) => number) =>
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
  gauge(
    'waiting_jobs',
    'Pieces of work that wait: for their time, or for a free place.',
    ({ waiting }) => waiting,
  );
  gauge('jobs_in_flight', 'Pieces of work that are under way.', ({ claimed }) => claimed);
  gauge(
    'oldest_due_age_seconds',
    'How long the piece of work that is due longest has been waiting; 0 when none is due.',
    ({ oldestDueMs }) => (oldestDueMs ?? 0) / 1000,
  );
}

function watchMemory(registry: Registry, pressure: () => StorePressure): void {
  const gauge = (name: string, help: string, of: (pressure: StorePressure) => number) =>
    new Gauge({
      name: `conversation_service_store_memory_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(of(pressure()));
      },
    });
  gauge(
    'live_bytes',
    'What was live in the heap after the last major collection: what is stored, and the service itself.',
    ({ liveBytes }) => liveBytes,
  );
  gauge(
    'limit_bytes',
    'What the heap may hold before the process ends.',
    ({ limitBytes }) => limitBytes,
  );
  gauge(
    'visitors_mark_bytes',
    'From here on new chats are refused.',
    ({ limitBytes, marks }) => limitBytes * marks.visitors,
  );
  gauge(
    'largest_share',
    'What the workspace that holds most holds of all that is stored, from 0 to 1.',
    ({ largestShare }) => largestShare,
  );
  gauge(
    'mark_bytes',
    'From here on whatever adds to the store is refused.',
    ({ limitBytes, marks }) => limitBytes * marks.additions,
  );
}

function watchFiles(registry: Registry, store: Watched): void {
  const gauge = (
    name: string,
    help: string,
    of: (files: NonNullable<Awaited<ReturnType<Watched['stats']>>['files']>) => number | null,
  ) =>
    new Gauge({
      name: `conversation_service_store_${name}`,
      help,
      registers: [registry],
      async collect() {
        const { files } = await store.stats();
        this.set((files && of(files)) ?? 0);
      },
    });
  gauge(
    'journal_bytes',
    'Length of what the next start has to replay.',
    ({ journalBytes }) => journalBytes,
  );
  gauge(
    'snapshot_bytes',
    'Length of the last snapshot; 0 when there is none.',
    ({ snapshotBytes }) => snapshotBytes,
  );
  gauge(
    'snapshot_timestamp_seconds',
    'When the last snapshot was finished; 0 when there is none.',
    ({ snapshotAt }) => (snapshotAt === null ? null : snapshotAt / 1000),
  );
}
