import type { Deps } from '../deps.ts';
import type { Workspace } from '../workspace.ts';
import { loadSubscription } from './loadSubscription.ts';
import { retireSubscription } from './retireSubscription.ts';

/**
 * What becomes of a removed subscription's deliveries: kept ten minutes for a successor, or
 * cancelled.
 */
export const PENDING_CHOICES = ['keep', 'cancel'] as const;
export type PendingChoice = (typeof PENDING_CHOICES)[number];

/**
 * Unsubscribes: nothing more is sent. What is pending, and what is emitted meanwhile, waits ten
 * minutes for a subscription that takes its place; with `cancel` nothing waits.
 * @throws not_found (404)
 * @see decision 0022
 */
export const deleteSubscription = (
  { store, clock }: Deps,
  workspace: Workspace,
  id: string,
  pending: PendingChoice = 'keep',
) =>
  store.transaction(async (tx): Promise<void> => {
    // locks the workspace: nobody looks for its place before it is there
    await tx.workspaces.get(workspace.id);
    const subscription = await loadSubscription(tx, workspace, id);
    if (pending === 'keep') await retireSubscription(tx, subscription, clock.now());
    else await tx.subscriptions.delete(id);
  });
