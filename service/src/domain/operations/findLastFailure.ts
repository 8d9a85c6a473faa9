import type { Tx } from '../collections.ts';
import type { Attempt } from '../delivery.ts';
import { lineageOf, type Subscription } from '../subscription.ts';

/**
 * Deliveries looked through: a delivery that was sent again may have failed later than newer ones.
 */
const LOOKED_AT = 10;

/**
 * The last attempt that failed, while the subscription's newest deliveries fail; null when they
 * arrive.
 */
export async function findLastFailure(tx: Tx, subscription: Subscription): Promise<Attempt | null> {
  if (subscription.consecutiveFailures === 0) return null;
  const subscriptionId = lineageOf(subscription);
  const newest = { direction: 'desc', limit: LOOKED_AT } as const;
  const recent = await tx.deliveries.find({ where: { subscriptionId }, ...newest });
  const failed = await tx.deliveries.find({
    where: { subscriptionId, status: 'failed' },
    ...newest,
  });
  const failures = [...recent, ...failed].flatMap(({ attempts }) =>
    attempts.filter(({ error }) => error !== null),
  );
  return failures.reduce<Attempt | null>(
    (last, each) => (last === null || each.at > last.at ? each : last),
    null,
  );
}
