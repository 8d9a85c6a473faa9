import type { Tx } from '../collections.ts';
import type { Attempt } from '../delivery.ts';
import type { Subscription } from '../subscription.ts';

/** Deliveries looked through: a delivery that was sent again may have failed later than newer ones. */
const LOOKED_AT = 10;

/** The last attempt that failed, while the subscription's newest deliveries fail; null when they arrive. */
export async function findLastFailure(tx: Tx, { id, consecutiveFailures }: Subscription): Promise<Attempt | null> {
  if (consecutiveFailures === 0) return null;
  const newest = { direction: 'desc', limit: LOOKED_AT } as const;
  const recent = await tx.deliveries.find({ where: { subscriptionId: id }, ...newest });
  const failed = await tx.deliveries.find({ where: { subscriptionId: id, status: 'failed' }, ...newest });
  const failures = [...recent, ...failed].flatMap(({ attempts }) => attempts.filter(({ error }) => error !== null));
  return failures.reduce<Attempt | null>((last, each) => (last === null || each.at > last.at ? each : last), null);
}
