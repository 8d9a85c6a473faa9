import type { Document } from '../store/store.ts';
import type { EventName } from './event.ts';

/**
 * A secret as kept: sealed (see security/secretBox.ts), with the end of its overlap after a
 * rotation.
 */
export interface SealedSecret {
  readonly sealed: string;
  /** Null: the current one. */
  readonly expiresAt: string | null;
}

/** URL, event, secret. */
export interface Subscription extends Document {
  readonly workspaceId: string;
  readonly event: EventName;
  readonly targetUrl: string;
  /** Who made it, in free text: `n8n`. */
  readonly source: string;
  /** The current one first. */
  readonly secrets: readonly SealedSecret[];
  /** Set when it took the place of a removed one; see `lineageOf`. */
  readonly lineageId?: string | null;
  readonly consecutiveFailures: number;
  readonly lastDeliveryAt: string | null;
  readonly createdAt: string;
}

export const MAX_SUBSCRIPTIONS = 25;
/** Failed deliveries in a row that flag a subscription as failing; deliveries continue. */
export const FAILING_AFTER = 5;
/** How long the replaced secret still signs. */
export const ROTATION_OVERLAP_MS = 24 * 60 * 60 * 1000;

/**
 * What its deliveries are kept and queued under: the id of the first in the row of subscriptions
 * that took each other's place. A successor has its predecessor's deliveries without any of them
 * being touched.
 */
export const lineageOf = ({ id, lineageId }: Subscription): string => lineageId ?? id;

/**
 * Addresses are kept as given; `https://Example.com:443` and `https://example.com/` are the same
 * one.
 */
export const isSameAddress = (a: string, b: string): boolean =>
  a === b || URL.parse(a)?.href === URL.parse(b)?.href;

/** Secrets that sign at a time, at most: each one costs every delivery a signature. */
export const MAX_SIGNING_SECRETS = 5;

export const subscriptionStatus = (subscription: Subscription): 'active' | 'failing' =>
  subscription.consecutiveFailures >= FAILING_AFTER ? 'failing' : 'active';

/** The secrets that sign at this time, the current one first. */
export const signingSecrets = (subscription: Subscription, now: Date): readonly SealedSecret[] =>
  subscription.secrets.filter(
    ({ expiresAt }) => expiresAt === null || Date.parse(expiresAt) > now.getTime(),
  );
