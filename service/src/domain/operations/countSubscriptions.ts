import type { Deps } from '../deps.ts';
import { MAX_SUBSCRIPTIONS, subscriptionStatus } from '../subscription.ts';

const BATCH = 100;

/** How many subscriptions all workspaces have, by status. */
export async function countSubscriptions({
  store,
}: Pick<Deps, 'store'>): Promise<{ active: number; failing: number }> {
  const counts = { active: 0, failing: 0 };
  let after: { value: string } | undefined;
  do {
    after = await store.transaction(async (tx) => {
      const workspaces = await tx.workspaces.find({
        where: {},
        limit: BATCH,
        ...(after ? { after } : {}),
      });
      const found = [];
      for (const { id } of workspaces)
        found.push(
          ...(await tx.subscriptions.find({
            where: { workspaceId: id },
            limit: MAX_SUBSCRIPTIONS,
          })),
        );
      for (const each of found) counts[subscriptionStatus(each)] += 1;
      return workspaces.length === BATCH ? { value: workspaces.at(-1)!.id } : undefined;
    });
  } while (after);
  return counts;
}
