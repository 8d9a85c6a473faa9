import type { Deps } from '../../platform/deps.ts';
import { definedOnly } from '../../platform/json.ts';
import { eventsOf, type Subscription, type WantedSubscription } from '../subscription.ts';
import type { Workspace } from '../../team/index.ts';
import { assertNew, findElsewhere } from './createSubscription.ts';
import { findActiveSubscriptions, loadSubscription } from './subscriptions.ts';

type Changes = {
  readonly [Field in 'targetUrl' | 'events' | 'filter' | 'paused' | 'catchUp']?:
    | WantedSubscription[Field]
    | undefined;
};

/**
 * Changes what a subscription asks for; the secret stays. Pending deliveries go to the new address.
 * Those that the new events or filter leave out are cancelled. A pause makes the others wait.
 * @throws subscription_exists, published_elsewhere (409), not_found (404), target_url_* (422)
 * @see docs/events-and-signatures.md, "Several events, filters and pauses"
 */
export async function updateSubscription(
  { store, checkTargetUrl }: Deps,
  workspace: Workspace,
  id: string,
  changes: Changes,
): Promise<Subscription> {
  if (changes.targetUrl !== undefined)
    await checkTargetUrl(workspace, changes.targetUrl, 'target_url');
  return store.transaction(async (tx) => {
    // Locks the workspace: two subscriptions cannot both get the same address and event.
    await tx.workspaces.get(workspace.id);
    const before = await loadSubscription(tx, workspace, id);
    const changed: Subscription = { ...before, ...definedOnly(changes) };
    const events = eventsOf(changed);
    const active = await findActiveSubscriptions(tx, workspace.id);
    const others = active.filter((each) => each.id !== id);
    const wanted = { ...changed, owner: changed.owner ?? null, events };
    // Throws when another n8n holds the new address: a change takes nothing over.
    const takeOver = false;
    if (changes.targetUrl !== undefined) findElsewhere(others, wanted, takeOver);
    assertNew(others, wanted);
    const after = { ...changed, event: events[0]! };
    await tx.subscriptions.put(after);
    return after;
  });
}

/**
 * Lets another n8n take the subscription over. Until one does, nothing changes.
 * @throws not_found (404)
 */
export const releaseSubscription = ({ store }: Deps, workspace: Workspace, id: string) =>
  store.transaction(async (tx): Promise<void> => {
    const subscription = await loadSubscription(tx, workspace, id);
    await tx.subscriptions.put({ ...subscription, isReleased: true });
  });
