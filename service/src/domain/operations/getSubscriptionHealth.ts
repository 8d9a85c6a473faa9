import type { Deps } from '../deps.ts';
import type { Workspace } from '../workspace.ts';
import { findLastFailure } from './findLastFailure.ts';
import type { SubscriptionHealth } from './listSubscriptionHealth.ts';
import { peekSubscription } from './loadSubscription.ts';

/** One subscription with the reason of its last failed attempt. @throws not_found (404) */
export const getSubscriptionHealth = (
  { store }: Pick<Deps, 'store'>,
  workspace: Workspace,
  id: string,
): Promise<SubscriptionHealth> =>
  store.transaction(async (tx) => {
    const subscription = await peekSubscription(tx, workspace, id);
    return { subscription, lastFailure: await findLastFailure(tx, subscription) };
  });
