import type { Document, Job } from '../store/store.ts';
import { timestamp } from '../platform/clock.ts';
import type { EventName } from './event.ts';
import { workGroup } from '../platform/jobs/workGroup.ts';

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
  /** The current one first; empty while it is removed. */
  readonly secrets: readonly SealedSecret[];
  /** 1 at first, and one more each time it is revived. */
  readonly revision: number;
  /** When it was removed; null while it is active. A removed one can be revived for a moment. */
  readonly removedAt: string | null;
  readonly consecutiveFailures: number;
  readonly lastDeliveryAt: string | null;
  readonly createdAt: string;
}

export const MAX_SUBSCRIPTIONS = 25;
/** Secrets that sign at the same time: each one costs every delivery a signature. */
export const MAX_SIGNING_SECRETS = 5;
/**
 * Removed subscriptions that a workspace keeps: each costs every event of its name a delivery.
 */
export const MAX_REMOVED_SUBSCRIPTIONS = 100;
/** How long a removed subscription can be revived. */
export const REVIVAL_MS = 60 * 1000;
/** Failed deliveries in a row that flag a subscription as failing; deliveries continue. */
const FAILING_AFTER = 5;
/** How long the replaced secret still signs. */
export const ROTATION_OVERLAP_MS = 24 * 60 * 60 * 1000;

/**
 * Addresses are kept as given; `https://Example.com:443` and `https://example.com/` are the same
 * one.
 */
export const isSameAddress = (a: string, b: string): boolean =>
  a === b || URL.parse(a)?.href === URL.parse(b)?.href;

export const subscriptionStatus = (subscription: Subscription): 'active' | 'failing' =>
  subscription.consecutiveFailures >= FAILING_AFTER ? 'failing' : 'active';

/** The secrets that sign at this time, the current one first. */
export const signingSecrets = (subscription: Subscription, now: Date): readonly SealedSecret[] =>
  subscription.secrets.filter(
    ({ expiresAt }) => expiresAt === null || Date.parse(expiresAt) > now.getTime(),
  );

/** Whether it was removed and may still be revived. Until it is, nothing is sent to it. */
export const isRemoved = ({ removedAt }: Subscription): boolean => removedAt !== null;

/** The subscription without its secrets: nothing is sent until it is revived. */
export const remove = (subscription: Subscription, now: Date): Subscription => ({
  ...subscription,
  secrets: [],
  removedAt: timestamp(now),
});

/** The removed subscription, active again for a receiver that has the new secret. */
export const revive = (
  removed: Subscription,
  { targetUrl, secrets }: Pick<Subscription, 'targetUrl' | 'secrets'>,
): Subscription => ({
  ...removed,
  targetUrl,
  secrets,
  revision: removed.revision + 1,
  removedAt: null,
  consecutiveFailures: 0,
});

/** The queue of what is to be done after a removal or a revival. */
export const REMOVAL_QUEUE = 'removals';
/**
 * `end`: nobody has revived the subscription. `resend`: it was revived, and its receiver may have
 * refused deliveries while it was being replaced.
 */
type RemovalTask = 'end' | 'resend';

/** A job of that queue. Each removal has its own, so that one never ends a later removal. */
export const removalJob = (
  { id, workspaceId, revision, removedAt }: Subscription,
  task: RemovalTask,
  runAt: Date,
): Job => ({
  id: `${id}:${revision}:${task}`,
  queue: REMOVAL_QUEUE,
  group: workGroup(workspaceId, id),
  runAt: runAt.getTime(),
  rank: 0,
  data: { task, subscriptionId: id, revision, removedAt },
});
