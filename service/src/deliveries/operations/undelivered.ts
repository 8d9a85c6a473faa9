import type { Deps } from '../../platform/deps.ts';
import { following, inBatches } from '../../platform/http/page.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Workspace } from '../../team/index.ts';
import { failedAtMs, hasNotArrived } from '../delivery.ts';
import { peekSubscription } from './subscriptions.ts';

/** How many deliveries failed and never arrived, before and since a time. */
export interface Undelivered {
  /** How many failed since that time. Recovering sends them. */
  readonly sinceCount: number;
  /** How many failed before it. Recovering leaves them alone. */
  readonly beforeCount: number;
  /** When the first and the last of those counted failed; null when there is none. */
  readonly firstFailedAt: string | null;
  readonly lastFailedAt: string | null;
  /** Whether there are more, which were not counted. */
  readonly isCut: boolean;
}

const BATCH = 500;
/** More are not counted, so that the page does not take long. */
const MAX_COUNTED = 10_000;

/**
 * Counts what failed and never arrived, without test events.
 * @param since null: since the beginning
 * @throws not_found (404)
 */
export async function countUndelivered(
  deps: Pick<Deps, 'store'>,
  workspace: Workspace,
  subscriptionId: string,
  since: Date | null,
): Promise<Undelivered> {
  const where = { subscriptionId, status: 'failed' } as const;
  const batches = inBatches(deps, async (tx, from) => {
    await peekSubscription(tx, workspace, subscriptionId);
    const failed = await tx.deliveries.find({ where, limit: BATCH, ...from });
    return { result: failed.filter(hasNotArrived).map(failedAtMs), next: following(failed, BATCH) };
  });
  const times: number[] = [];
  for await (const batch of batches) {
    times.push(...batch);
    if (times.length > MAX_COUNTED) break;
  }
  const counted = times.slice(0, MAX_COUNTED);
  const sinceMs = since?.getTime() ?? -Infinity;
  const sinceCount = counted.filter((time) => time >= sinceMs).length;
  const at = (time: number) => (counted.length === 0 ? null : timestamp(new Date(time)));
  return {
    sinceCount,
    beforeCount: counted.length - sinceCount,
    firstFailedAt: at(counted.reduce((a, b) => Math.min(a, b), Infinity)),
    lastFailedAt: at(counted.reduce((a, b) => Math.max(a, b), -Infinity)),
    isCut: times.length > MAX_COUNTED,
  };
}
