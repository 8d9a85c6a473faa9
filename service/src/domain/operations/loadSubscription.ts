import type { Tx } from '../collections.ts';
import { notFound } from '../errorCatalogue.ts';
import type { Subscription } from '../subscription.ts';
import type { Workspace } from '../workspace.ts';

/** @throws not_found (404), also for another workspace's subscription */
export async function loadSubscription(tx: Tx, workspace: Workspace, id: string): Promise<Subscription> {
  const subscription = await tx.subscriptions.get(id);
  if (!subscription || subscription.workspaceId !== workspace.id) throw notFound('subscription', id);
  return subscription;
}
