import type { Logger } from 'pino';
import type { ServiceStore } from '../domain/collections.ts';
import type { Deps } from '../domain/deps.ts';
import { recallDeliveries } from '../domain/operations/recallDeliveries.ts';
import { endRetirement } from '../domain/operations/retireSubscription.ts';
import { isVacant, RETIREMENT_QUEUE } from '../domain/retiredSubscription.ts';
import { limitedBy } from '../domain/workGroup.ts';
import type { Job } from '../store/store.ts';
import { WorkLoop } from '../work/workLoop.ts';

/** Retirements of one workspace worked on at once. */
const MAX_IN_FLIGHT = 4;
/** A longer one is begun anew, which does no harm. */
const LEASE_MS = 60_000;

/**
 * Does what removed subscriptions leave to do: recalls what met a 404, and ends their time. @see
 * decision 0022
 */
export class Retirements {
  readonly #loop: WorkLoop;

  /** Starts at once. */
  constructor({ store, deps, log }: { store: ServiceStore; deps: Deps; log: Logger }) {
    const run = async (job: Job) => {
      try {
        await workOn(deps, job);
      } catch (error) {
        log.error(
          { err: error, job: job.id },
          'a removed subscription could not be followed up; it is tried again',
        );
      }
    };
    this.#loop = new WorkLoop({
      store,
      log,
      queue: RETIREMENT_QUEUE,
      mostInFlight: MAX_IN_FLIGHT,
      leaseMs: LEASE_MS,
      freeSlots: () => 1,
      run: async (jobs, done) =>
        void (await Promise.all(jobs.map((job) => run(job).finally(() => done(job))))),
    });
  }

  /** Takes no more work and waits for what is in flight. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }
}

async function workOn(deps: Deps, { id, group, data }: Job): Promise<void> {
  if (data.task === 'recall') {
    await recallDeliveries(deps, limitedBy(group), new Date(String(data.removedAt)));
    await deps.store.transaction((tx) => tx.jobs.complete(id));
    return;
  }
  await deps.store.transaction(async (tx) => {
    const retired = await tx.retiredSubscriptions.get(String(data.subscriptionId));
    // Its place was handed on when this job had been claimed already: the job has another time by
    // now.
    if (retired && !isVacant(retired) && data.isHandedOn !== true) return;
    if (retired) await endRetirement(tx, retired);
    await tx.jobs.complete(id);
  });
}
