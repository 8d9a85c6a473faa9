import type { Tx } from '../collections.ts';
import { notFound } from '../errorCatalogue.ts';
import {
  isRemoved,
  MAX_REMOVED_SUBSCRIPTIONS,
  MAX_SUBSCRIPTIONS,
  type Subscription,
} from '../subscription.ts';
import type { Workspace } from '../workspace.ts';

/**
 * For changing it: locked until the transaction ends.
 * @throws not_found (404), also for a removed one and another workspace's
 */
export const loadSubscription = async (
  tx: Tx,
  workspace: Workspace,
  id: string,
): Promise<Subscription> => activeOf(workspace, id, await tx.subscriptions.get(id));

/**
 * As it stands, without a lock.
 * @throws not_found (404), also for a removed one and another workspace's
 */
export const peekSubscription = async (
  tx: Tx,
  workspace: Workspace,
  id: string,
): Promise<Subscription> => activeOf(workspace, id, await tx.subscriptions.peek(id));

function activeOf(workspace: Workspace, id: string, found: Subscription | null): Subscription {
  if (found?.workspaceId === workspace.id && !isRemoved(found)) return found;
  throw notFound('subscription', id);
}

/** All subscriptions of a workspace, newest first, those included that can still be revived. */
export const findSubscriptions = (tx: Tx, workspaceId: string): Promise<readonly Subscription[]> =>
  tx.subscriptions.find({
    where: { workspaceId },
    direction: 'desc',
    limit: MAX_SUBSCRIPTIONS + MAX_REMOVED_SUBSCRIPTIONS,
  });

/** The subscriptions of a workspace that receive events now, newest first. */
export const findActiveSubscriptions = async (
  tx: Tx,
  workspaceId: string,
): Promise<readonly Subscription[]> =>
  (await findSubscriptions(tx, workspaceId)).filter((each) => !isRemoved(each));
