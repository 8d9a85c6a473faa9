import type { Logger } from 'pino';
import type { Clock } from './domain/clock.ts';
import type { ServiceStore } from './domain/collections.ts';
import { sweepAll, type Retention } from './housekeeping.ts';
import { startWorker, type JobContext, type Worker } from './work/worker.ts';

/** The queue of the clean-up. It holds one job for ever, which says when the next sweep is due. */
export const HOUSEKEEPING_QUEUE = 'housekeeping';

/** Id and group of that job: of several processes one sweeps at a time. */
export const HOUSEKEEPING_JOB = 'housekeeping';

export interface HousekeepingOptions {
  readonly store: ServiceStore;
  /** For when the next sweep is due. */
  readonly clock: Clock;
  /** For how old things are: a monotonic clock, since nothing that was removed comes back. */
  readonly ageClock: Clock;
  readonly retention: Retention;
  readonly log: Logger;
  /** Between two sweeps. Default: ten minutes. */
  readonly everyMs?: number | undefined;
}

const EVERY_MS = 10 * 60 * 1000;

/** A second process may start a sweep that takes longer, which does no harm. */
const LEASE_MS = 15 * 60 * 1000;

/**
 * Sweeps at the start and then regularly. The next sweep is a job in the store: one process sweeps
 * at a time, and another one continues when it dies.
 */
export async function startHousekeeping(options: HousekeepingOptions): Promise<Worker> {
  const { store, clock, log } = options;
  const { [HOUSEKEEPING_QUEUE]: queue } = (await store.stats()).queues;
  const isUnderWay = (queue?.claimed ?? 0) > 0;
  if (!isUnderWay) {
    const job = {
      id: HOUSEKEEPING_JOB,
      queue: HOUSEKEEPING_QUEUE,
      group: HOUSEKEEPING_JOB,
      rank: 0,
      data: {},
    };
    await store.transaction((tx) => tx.jobs.enqueue({ ...job, runAt: clock.now().getTime() }));
  }
  return startWorker({
    store,
    log,
    queue: HOUSEKEEPING_QUEUE,
    maxPerWorkspace: 1,
    leaseMs: LEASE_MS,
    run: (_job, context) => sweepAndReschedule(options, context),
    onFailure: {
      message: 'the next clean-up could not be scheduled; it runs when the lease of this one ends',
      idField: 'job',
    },
  });
}

async function sweepAndReschedule(
  { store, clock, ageClock, retention, log, everyMs = EVERY_MS }: HousekeepingOptions,
  { retry }: JobContext,
): Promise<void> {
  try {
    const { givenUp } = await sweepAll(store, ageClock.now(), retention);
    if (givenUp > 0)
      log.warn(
        { deliveries: givenUp },
        `deliveries that could not be sent within RETENTION_DAYS (${retention.days}) were removed`,
      );
  } catch (error) {
    log.warn({ err: error }, 'the clean-up failed; it runs again later');
  }
  await retry(() =>
    store.transaction((tx) =>
      tx.jobs.release(HOUSEKEEPING_JOB, { runAt: clock.now().getTime() + everyMs, rank: 0 }),
    ),
  );
}
