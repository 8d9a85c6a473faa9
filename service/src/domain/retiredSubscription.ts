import type { Document } from '../store/store.ts';
import type { EventName } from './event.ts';

/**
 * A subscription that was removed a short while ago. It is still owed what was pending and what is
 * emitted meanwhile; nothing is sent until a successor takes its place, or its time ends.
 * Its id is that of the subscription; it signs nothing and so keeps no secret.
 * @see decision 0022
 */
export interface RetiredSubscription extends Document {
  readonly workspaceId: string;
  readonly event: EventName;
  readonly targetUrl: string;
  readonly source: string;
  readonly lineageId: string;
  readonly removedAt: string;
  /**
   * Who has taken its place; it stays beside that one for a minute. Left out or null: nobody has.
   */
  readonly successorId?: string | null;
}

/** Whether somebody can still take its place. */
export const isVacant = ({ successorId }: RetiredSubscription): boolean =>
  (successorId ?? null) === null;

/** How long a removed subscription waits for its successor. */
export const RETIREMENT_MS = 10 * 60 * 1000;
/**
 * How long it stays beside its successor. Whoever looks for a lineage reads the subscriptions first
 * and then the retired ones, both without a lock: this long the two reads may lie apart.
 * @see docs/decisions/0033
 */
export const HANDED_ON_MS = 60 * 1000;
/**
 * A workspace's retired subscriptions at most: each one costs every event of its name a delivery.
 */
export const MAX_RETIRED_SUBSCRIPTIONS = 100;
/** A 404 this long before the removal came from a receiver that was being taken down. */
export const TAKEN_DOWN_MS = 60 * 1000;

/** The queue of what is done for retired subscriptions; its groups are lineages. */
export const RETIREMENT_QUEUE = 'retirements';
/**
 *  `recall`: send again what met a receiver that was being taken down. `end`: nobody took its place.
 */
export type RetirementTask = 'recall' | 'end';
export const retirementJobId = (subscriptionId: string, task: RetirementTask): string =>
  `${subscriptionId}:${task}`;
