import type { Attempt } from '../delivery.ts';
import type { Deps } from '../deps.ts';
import { MAX_SUBSCRIPTIONS, type Subscription } from '../subscription.ts';
import type { Workspace } from '../workspace.ts';
import { findLastFailure } from './findLastFailure.ts';

/** A subscription, and why it fails when it does. */
export interface SubscriptionHealth {
  readonly subscription: Subscription;
  readonly lastFailure: Attempt | null;
}

/**
 * Every subscription of the workspace, newest first, with the reason of its last failed attempt.
 */
export const listSubscriptionHealth = (
  { store }: Pick<Deps, 'store'>,
  workspace: Workspace,
): Promise<readonly SubscriptionHealth[]> =>
  store.transaction(async (tx) => {
    const all = await tx.subscriptions.find({
      where: { workspaceId: workspace.id },
      direction: 'desc',
      limit: MAX_SUBSCRIPTIONS,
    });
    const described: SubscriptionHealth[] = [];
    for (const subscription of all)
      described.push({ subscription, lastFailure: await findLastFailure(tx, subscription) });
    return described;
  });
