import type { Logger } from 'pino';
import type { Clock } from './domain/clock.ts';
import type { ServiceStore } from './domain/collections.ts';
import { HOUSEKEEPING_JOB, HOUSEKEEPING_QUEUE } from './domain/housekeepingJob.ts';
import { sweepAll, type Retention } from './housekeeping.ts';
import { WorkLoop } from './work/workLoop.ts';

export interface HousekeepingOptions {
  readonly store: ServiceStore;
  /** For when the next sweep is due. */
  readonly clock: Clock;
  /** For how old things are: a prudent one, since what was removed cannot be had back. */
  readonly ageClock: Clock;
  readonly retention: Retention;
  readonly log: Logger;
  /** Between two sweeps. Default: ten minutes. */
  readonly everyMs?: number | undefined;
}

const EVERY_MS = 10 * 60 * 1000;
/** A sweep that takes longer is begun by another process as well, which does no harm. */
const LEASE_MS = 15 * 60 * 1000;

/**
 * Sweeps at a start and then again and again. The next sweep is a job in the store: of several
 * processes one sweeps at a time, and another one goes on when it dies.
 */
export async function startHousekeeping(options: HousekeepingOptions): Promise<Housekeeping> {
  const { store, clock } = options;
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
  return new Housekeeping(options);
}

export class Housekeeping {
  readonly #options: HousekeepingOptions;
  readonly #loop: WorkLoop;

  /** Starts at once. */
  constructor(options: HousekeepingOptions) {
    this.#options = options;
    this.#loop = new WorkLoop({
      store: options.store,
      log: options.log,
      queue: HOUSEKEEPING_QUEUE,
      mostInFlight: 1,
      leaseMs: LEASE_MS,
      freeSlots: () => 1,
      run: async (jobs, done) =>
        void (await Promise.all(jobs.map((job) => this.#sweep().finally(() => done(job))))),
    });
  }

  /** Takes up no other sweep and waits for the one that is under way. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #sweep(): Promise<void> {
    const { store, clock, ageClock, retention, log, everyMs = EVERY_MS } = this.#options;
    try {
      const { givenUp } = await sweepAll(store, ageClock.now(), retention);
      if (givenUp > 0)
        log.warn(
          { deliveries: givenUp },
          `deliveries that could not be sent within RETENTION_DAYS (${retention.days}) were given up and removed`,
        );
    } catch (error) {
      log.warn({ err: error }, 'clean-up could not finish; it is tried again later');
    }
    try {
      await this.#loop.record(() =>
        store.transaction((tx) =>
          tx.jobs.release(HOUSEKEEPING_JOB, { runAt: clock.now().getTime() + everyMs, rank: 0 }),
        ),
      );
    } catch (error) {
      log.warn(
        { err: error },
        'the next clean-up could not be set; it comes when the lease of this one ends',
      );
    }
  }
}
