import { newSigningSecret } from '../../platform/security/tokens.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Deps } from '../../platform/deps.ts';
import { errorWithFix } from '../../platform/http/errorCatalogue.ts';
import {
  ROTATION_OVERLAP_MS,
  MAX_SIGNING_SECRETS,
  signingSecrets,
  type Subscription,
} from '../subscription.ts';
import type { Workspace } from '../../team/index.ts';
import { loadSubscription } from './subscriptions.ts';

/**
 * Gives a subscription a new secret. For 24 hours the replaced one signs too, so that the receiver
 * can be changed without losing an event. After a second rotation within that time, all three sign.
 * @returns the subscription, its new secret (which is shown only here), and when the replaced one
 * stops signing
 * @throws secret_limit_reached (409), not_found (404)
 */
export const rotateSubscriptionSecret = (
  { store, clock, secrets }: Deps,
  workspace: Workspace,
  id: string,
) => {
  const secret = newSigningSecret();
  const sealed = secrets.seal(secret);
  return store.transaction(
    async (tx): Promise<{ subscription: Subscription; secret: string; overlapEndsAt: string }> => {
      const now = clock.now();
      const subscription = await loadSubscription(tx, workspace, id);
      const overlapEndsAt = timestamp(new Date(now.getTime() + ROTATION_OVERLAP_MS));
      const signing = signingSecrets(subscription, now);
      if (signing.length >= MAX_SIGNING_SECRETS) {
        throw errorWithFix(
          'secret_limit_reached',
          `${signing.length} secrets of this subscription already sign.`,
        );
      }
      const replaced = signing.map((old) => ({
        ...old,
        expiresAt: old.expiresAt ?? overlapEndsAt,
      }));
      const rotated = { ...subscription, secrets: [{ sealed, expiresAt: null }, ...replaced] };
      await tx.subscriptions.put(rotated);
      return { subscription: rotated, secret, overlapEndsAt };
    },
  );
};

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
    const withCurrentOnly = {
      ...subscription,
      secrets: subscription.secrets.filter(({ expiresAt }) => expiresAt === null),
    };
    await tx.subscriptions.put(withCurrentOnly);
    return { subscription: withCurrentOnly, revoked };
  });
