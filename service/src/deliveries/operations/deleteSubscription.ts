import type { Tx } from '../../store/collections.ts';
import type { Deps } from '../../platform/deps.ts';
import { matchesOwner, type OwnerIdentity } from '../../platform/owner.ts';
import {
  followUp,
  isRemoved,
  MAX_REMOVED_SUBSCRIPTIONS,
  remove,
  REVIVAL_MS,
} from '../subscription.ts';
import type { Workspace } from '../../team/index.ts';
import { findSubscriptions, loadSubscription } from './subscriptions.ts';

/** What happens to the pending deliveries: they are kept for a revival, or cancelled. */
export const PENDING_CHOICES = ['keep', 'cancel'] as const;

interface Deletion {
  readonly pending?: (typeof PENDING_CHOICES)[number];
  /** A later revision than this one is not removed. Absent: any revision is removed. */
  readonly revision?: number | undefined;
  /** Another owner's subscription is not removed: a cloned n8n knows the ids of the original. */
  readonly owner?: Partial<OwnerIdentity>;
}

/**
 * Removes a subscription: nothing more is sent. For REVIVAL_MS it can be revived, and then gets what
 * was pending and what was emitted since. With `cancel` it is deleted at once. A removal takes the
 * same time however much is pending: deliveries of a deleted subscription are cancelled as they come
 * due.
 * @returns false when the subscription has a later revision than the one to remove, or another owner
 * @throws not_found (404)
 * @see docs/decisions/0022-a-removed-subscription-can-be-revived.md
 */
export const deleteSubscription = (
  { store, clock }: Deps,
  workspace: Workspace,
  id: string,
  { pending = 'keep', revision, owner = {} }: Deletion = {},
) =>
  store.transaction(async (tx): Promise<boolean> => {
    // Locks the workspace, so that no subscription is created or revived at the same time.
    await tx.workspaces.get(workspace.id);
    const subscription = await loadSubscription(tx, workspace, id);
    if (revision !== undefined && revision < subscription.revision) return false;
    if (subscription.owner && !matchesOwner(subscription.owner, owner)) return false;
    if (pending === 'cancel') return tx.subscriptions.delete(id);
    const now = clock.now();
    await makeRoom(tx, workspace);
    const removed = remove(subscription, now);
    await tx.subscriptions.put(removed);
    await tx.jobs.enqueue(followUp(removed, 'end', new Date(now.getTime() + REVIVAL_MS)));
    return true;
  });

/** Deletes the subscription that was removed first, if there is no room for one more. */
async function makeRoom(tx: Tx, { id }: Workspace): Promise<void> {
  const removed = (await findSubscriptions(tx, id)).filter(isRemoved);
  if (removed.length < MAX_REMOVED_SUBSCRIPTIONS) return;
  const [oldest] = removed.sort((a, b) => (a.removedAt! < b.removedAt! ? -1 : 1));
  await tx.subscriptions.delete(oldest!.id);
}
