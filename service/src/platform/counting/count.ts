import type { Tx } from '../../store/collections.ts';
import { collection, type Document } from '../../store/store.ts';
import { newId } from '../ids.ts';

/**
 * What is counted, by name, with the labels of each: `closed: readonly [channel: string]`. Each
 * subject adds its own, by declaration merging. Labels hold no space.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- other files add its properties
export interface Counted {}

/**
 * What one transaction adds to the counters of an hour. Each transaction writes a document of its
 * own, so that two that count at once never wait for each other; overview/ adds them up later.
 * @see docs/decisions/0048-counters-are-appended-and-folded.md
 */
export interface Increment extends Document {
  readonly workspaceId: string;
  /** In UTC: `2026-11-21T10`. */
  readonly hour: string;
  /** By key: the name and its labels, with spaces between. */
  readonly counts: Readonly<Record<string, number>>;
}

declare module '../../store/collections.ts' {
  interface Collections {
    increments: Increment;
  }
}

export const countingCollections = {
  increments: collection<Increment>({ indexes: [{ on: [] }, { on: ['workspaceId'] }] }),
};

/** What each running transaction has counted, by workspace and hour. */
const ofTransactions = new WeakMap<Tx, Map<string, Increment>>();

/** One thing to count. */
export type Counting = {
  [Name in keyof Counted]: readonly [
    name: Name,
    labels: Counted[Name] & readonly (string | number)[],
    n?: number,
  ];
}[keyof Counted];

/**
 * Counts, in the transaction in which it happens.
 * @param at the hour that it counts in; usually now
 */
export async function count(
  tx: Tx,
  workspaceId: string,
  at: Date,
  ...countings: readonly Counting[]
): Promise<void> {
  const hour = hourOf(at);
  const place = `${workspaceId} ${hour}`;
  const own = ofTransactions.get(tx) ?? new Map<string, Increment>();
  ofTransactions.set(tx, own);
  const earlier = own.get(place);
  const counts: Record<string, number> = { ...earlier?.counts };
  for (const [name, labels, n = 1] of countings) {
    const key = [name, ...labels].join(' ');
    counts[key] = (counts[key] ?? 0) + n;
  }
  const next = { id: earlier?.id ?? newId('inc'), workspaceId, hour, counts };
  own.set(place, next);
  await tx.increments.put(next);
}

/** In UTC: `2026-11-21T10`. */
export const hourOf = (at: Date): string => at.toISOString().slice(0, 13);
