import type { Tx } from '../../store/collections.ts';
import { collection, type Document } from '../../store/store.ts';
import { newId } from '../ids.ts';

/**
 * The names of what is counted, each with its labels: `closed: readonly [channel: string]`. Each
 * subject adds its own names, by declaration merging. Labels hold no spaces.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- other files add its properties
export interface Counted {}

/**
 * What one transaction adds to the counters of an hour. Each transaction writes its own document,
 * so that transactions never wait for each other to count; overview/ adds the documents up later.
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
const countedIn = new WeakMap<Tx, Map<string, Increment>>();

/** One thing to count. */
export type Counting = {
  [Name in keyof Counted]: readonly [
    name: Name,
    labels: Counted[Name] & readonly (string | number)[],
    n?: number,
  ];
}[keyof Counted];

/**
 * Counts things in the transaction that makes them happen.
 * @param at when they happen, usually now; they count for that hour
 */
export async function count(
  tx: Tx,
  workspaceId: string,
  at: Date,
  ...countings: readonly Counting[]
): Promise<void> {
  const hour = hourOf(at);
  const workspaceHour = `${workspaceId} ${hour}`;
  const increments = countedIn.get(tx) ?? new Map<string, Increment>();
  countedIn.set(tx, increments);
  const earlier = increments.get(workspaceHour);
  const counts: Record<string, number> = { ...earlier?.counts };
  for (const [name, labels, n = 1] of countings) {
    const key = [name, ...labels].join(' ');
    counts[key] = (counts[key] ?? 0) + n;
  }
  const next = { id: earlier?.id ?? newId('inc'), workspaceId, hour, counts };
  increments.set(workspaceHour, next);
  await tx.increments.put(next);
}

/** In UTC: `2026-11-21T10`. */
export const hourOf = (at: Date): string => at.toISOString().slice(0, 13);
