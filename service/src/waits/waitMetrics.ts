import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { following, sumOfBatches } from '../platform/http/page.ts';
import { statusClass } from '../platform/metrics/requestMetrics.ts';
import type { ServiceStore } from '../store/collections.ts';
import { StoreUnavailable } from '../store/store.ts';
import { WAIT_KINDS, WAIT_STATUSES, type Wait, type WaitKind } from './wait.ts';

/** Learns what happens to waits, for /metrics. */
export interface WaitObserver {
  ended(wait: Wait): void;
  /** An execution was called. @param status null without an answer */
  attempted(status: number | null, isCollected: boolean): void;
  collected(wait: Wait): void;
}

/** How many waits are read in one transaction. */
const BATCH = 500;
/** Narrow at first, since an execution goes on within a second unless its n8n is down. */
const COLLECT_SECONDS = [0.1, 0.25, 0.5, 1, 2, 5, 15, 60, 300, 900, 3600, 6 * 3600, 24 * 3600];

/** Counts waits and the calls that resume executions. No label holds an address or an id. */
export function countWaits(
  registry: Registry,
  store: Pick<ServiceStore, 'transaction'>,
): WaitObserver {
  const registers = [registry];
  watchOpen(registry, store);
  const ended = new Counter({
    name: 'conversation_service_waits_ended_total',
    help: 'Waits that ended, by kind and by how.',
    labelNames: ['kind', 'status'],
    registers,
  });
  for (const kind of WAIT_KINDS)
    for (const status of WAIT_STATUSES.filter((each) => each !== 'open'))
      ended.inc({ kind, status }, 0);
  const attempts = new Counter({
    name: 'conversation_service_wait_resume_attempts_total',
    help: 'Calls that let an execution go on, by status class (none: no answer), and whether it collected the answer.',
    labelNames: ['status_class', 'collected'],
    registers,
  });
  attempts.inc({ status_class: '2xx', collected: 'true' }, 0);
  const seconds = new Histogram({
    name: 'conversation_service_wait_collected_seconds',
    help: 'Time from the end of a wait until its execution collected it.',
    buckets: COLLECT_SECONDS,
    registers,
  });
  return {
    ended: ({ kind, status }) => ended.inc({ kind, status }),
    attempted: (status, isCollected) =>
      attempts.inc({ status_class: statusClass(status), collected: String(isCollected) }),
    collected: ({ endedAt, collectedAt }) =>
      seconds.observe(Math.max(0, Date.parse(collectedAt!) - Date.parse(endedAt!)) / 1000),
  };
}

function watchOpen(registry: Registry, store: Pick<ServiceStore, 'transaction'>): void {
  new Gauge({
    name: 'conversation_service_waits_open',
    help: 'Waits that are open, by kind.',
    labelNames: ['kind'],
    registers: [registry],
    async collect() {
      try {
        for (const kind of WAIT_KINDS) this.set({ kind }, await countOpen(store, kind));
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
      }
    },
  });
}

const countOpen = (store: Pick<ServiceStore, 'transaction'>, kind: WaitKind): Promise<number> =>
  sumOfBatches({ store }, async (tx, from) => {
    const where = { status: 'open', kind } as const;
    const found = await tx.waits.find({ where, limit: BATCH, ...from });
    return { result: found.length, next: following(found, BATCH) };
  });
