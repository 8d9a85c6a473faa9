import type { Logger } from 'pino';
import type { ServiceStore } from '../domain/collections.ts';
import type { Deps } from '../domain/deps.ts';
import { recallDeliveries } from '../domain/operations/recallDeliveries.ts';
import { endRetirement } from '../domain/operations/retireSubscription.ts';
import { isVacant, RETIREMENT_QUEUE } from '../domain/retiredSubscription.ts';
import { limitedBy } from '../domain/workGroup.ts';
import type { Job } from '../store/store.ts';
import { startWorker, type Worker } from '../work/worker.ts';

/** Retirements of one workspace worked on at once. */
const MAX_IN_FLIGHT = 4;
/** A longer one is begun anew, which does no harm. */
const LEASE_MS = 60_000;

/**
 * Does what removed subscriptions leave to do: recalls deliveries that met a 404, and ends the time
 * that a subscription is kept.
 */
export const startRetirements = ({
  store,
  deps,
  log,
}: {
  store: ServiceStore;
  deps: Deps;
  log: Logger;
}): Worker =>
  startWorker({
    store,
    log,
    queue: RETIREMENT_QUEUE,
    maxPerWorkspace: MAX_IN_FLIGHT,
    leaseMs: LEASE_MS,
    run: (job) => workOn(deps, job),
    onFailure: {
      message: 'a removed subscription could not be followed up; it is tried again',
      idField: 'job',
    },
  });

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
