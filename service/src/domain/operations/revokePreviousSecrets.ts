import type { Deps } from '../deps.ts';
import { signingSecrets, type Subscription } from '../subscription.ts';
import type { Workspace } from '../workspace.ts';
import { loadSubscription } from './loadSubscription.ts';

/**
 * Ends the overlap after a rotation: the current secret signs alone from now on.
 * @returns how many replaced secrets have stopped signing; 0 when there was none
 * @throws not_found (404)
 */
export const revokePreviousSecrets = ({ store, clock }: Deps, workspace: Workspace, id: string) =>
  store.transaction(async (tx): Promise<{ subscription: Subscription; revoked: number }> => {
    const subscription = await loadSubscription(tx, workspace, id);
    const revoked = signingSecrets(subscription, clock.now()).filter(
      ({ expiresAt }) => expiresAt !== null,
    ).length;
    const alone = {
      ...subscription,
      secrets: subscription.secrets.filter(({ expiresAt }) => expiresAt === null),
    };
    await tx.subscriptions.put(alone);
    return { subscription: alone, revoked };
  });
