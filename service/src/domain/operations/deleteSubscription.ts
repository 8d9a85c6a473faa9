import type { Deps } from '../deps.ts';
import type { Workspace } from '../workspace.ts';
import { loadSubscription } from './loadSubscription.ts';

/**
 * Unsubscribes: nothing more is sent. What is still pending is cancelled when its turn comes.
 * @throws not_found (404)
 */
export const deleteSubscription = ({ store }: Deps, workspace: Workspace, id: string) =>
  store.transaction(async (tx): Promise<void> => {
    await loadSubscription(tx, workspace, id);
    await tx.subscriptions.delete(id);
  });
