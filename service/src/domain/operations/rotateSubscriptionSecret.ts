import { newSigningSecret } from '../../security/tokens.ts';
import { timestamp } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { ROTATION_OVERLAP_MS, signingSecrets, type Subscription } from '../subscription.ts';
import type { Workspace } from '../workspace.ts';
import { loadSubscription } from './loadSubscription.ts';

/**
 * Gives a subscription a new secret. For 24 hours the replaced one signs too, so that a receiver can
 * change over without losing anything.
 * @returns the new secret, shown this once, and when the replaced one stops signing
 * @throws not_found (404)
 */
export const rotateSubscriptionSecret = ({ store, clock, secrets }: Deps, workspace: Workspace, id: string) => {
  const secret = newSigningSecret();
  const sealed = secrets.seal(secret);
  return store.transaction(async (tx): Promise<{ subscription: Subscription; secret: string; overlapEndsAt: string }> => {
    const now = clock.now();
    const subscription = await loadSubscription(tx, workspace, id);
    const overlapEndsAt = timestamp(new Date(now.getTime() + ROTATION_OVERLAP_MS));
    const replaced = signingSecrets(subscription, now).map((old) => ({ ...old, expiresAt: old.expiresAt ?? overlapEndsAt }));
    const rotated = { ...subscription, secrets: [{ sealed, expiresAt: null }, ...replaced] };
    await tx.subscriptions.put(rotated);
    return { subscription: rotated, secret, overlapEndsAt };
  });
};
