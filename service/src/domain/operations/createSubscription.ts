import { newSigningSecret } from '../../security/tokens.ts';
import { timestamp } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { AppError, ERROR_CATALOGUE } from '../errorCatalogue.ts';
import type { EventName } from '../event.ts';
import { newId } from '../ids.ts';
import { isSameAddress, MAX_SUBSCRIPTIONS, type Subscription } from '../subscription.ts';
import type { Workspace } from '../workspace.ts';
import { handOn, lockRetired } from './retireSubscription.ts';

/**
 * Subscribes an address to an event. One that was removed within the last ten minutes and agrees in
 * event, target_url and source hands down its deliveries: what is pending is sent, signed with the
 * new secret, and what failed can be recovered.
 * @returns the subscription and its signing secret, which is shown this once and kept sealed
 * @throws subscription_exists, subscription_limit_reached (409); target_url_* (422)
 */
export async function createSubscription(
  { store, clock, secrets, checkTargetUrl }: Deps,
  workspace: Workspace,
  wanted: { event: EventName; targetUrl: string; source: string },
): Promise<{ subscription: Subscription; secret: string }> {
  await checkTargetUrl(workspace, wanted.targetUrl, 'target_url');
  const secret = newSigningSecret();
  const subscription: Subscription = {
    id: newId('sub'),
    workspaceId: workspace.id,
    ...wanted,
    secrets: [{ sealed: secrets.seal(secret), expiresAt: null }],
    consecutiveFailures: 0,
    lastDeliveryAt: null,
    createdAt: timestamp(clock.now()),
  };
  const stored = await store.transaction(async (tx) => {
    // locks the workspace: two creations cannot both be the 25th
    await tx.workspaces.get(workspace.id);
    const all = await tx.subscriptions.find({
      where: { workspaceId: workspace.id },
      limit: MAX_SUBSCRIPTIONS + 1,
    });
    assertNew(all, wanted);
    assertRoom(all);
    const predecessor = await lockRetired(tx, workspace, wanted);
    if (predecessor) await handOn(tx, predecessor, subscription.id, clock.now());
    const successor = predecessor
      ? { ...subscription, lineageId: predecessor.lineageId }
      : subscription;
    await tx.subscriptions.put(successor);
    return successor;
  });
  return { subscription: stored, secret };
}

function assertNew(
  all: readonly Subscription[],
  { event, targetUrl }: { event: EventName; targetUrl: string },
): void {
  const twin = all.find((each) => each.event === event && isSameAddress(each.targetUrl, targetUrl));
  if (!twin) return;
  throw new AppError(
    'subscription_exists',
    `Subscription ${twin.id} sends ${event} to this target_url already. ${ERROR_CATALOGUE.subscription_exists.fix}`,
    { existingId: twin.id },
  );
}

function assertRoom(all: readonly Subscription[]): void {
  if (all.length < MAX_SUBSCRIPTIONS) return;
  const bySource = Map.groupBy(all, ({ source }) => source || 'no source');
  const counts = [...bySource]
    .map(([source, { length }]) => `${length} from ${JSON.stringify(source)}`)
    .join(', ');
  throw new AppError(
    'subscription_limit_reached',
    `A workspace has at most ${MAX_SUBSCRIPTIONS} subscriptions; this one has ${all.length} (${counts}). ${ERROR_CATALOGUE.subscription_limit_reached.fix}`,
  );
}
