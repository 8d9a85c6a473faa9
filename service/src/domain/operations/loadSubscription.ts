import type { Tx } from '../collections.ts';
import { notFound } from '../errorCatalogue.ts';
import type { Subscription } from '../subscription.ts';
import type { Workspace } from '../workspace.ts';

/**
 * For changing it: locked until the transaction ends. @throws not_found (404), also for another
 * workspace's
 */
export const loadSubscription = async (
  tx: Tx,
  workspace: Workspace,
  id: string,
): Promise<Subscription> => ofWorkspace(await tx.subscriptions.get(id), workspace, id);

/** As it stands, without a lock. @throws not_found (404), also for another workspace's */
export const peekSubscription = async (
  tx: Tx,
  workspace: Workspace,
  id: string,
): Promise<Subscription> => ofWorkspace(await tx.subscriptions.peek(id), workspace, id);

function ofWorkspace(found: Subscription | null, workspace: Workspace, id: string): Subscription {
  if (found?.workspaceId !== workspace.id) throw notFound('subscription', id);
  return found;
}
