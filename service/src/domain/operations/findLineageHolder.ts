import type { Tx } from '../collections.ts';
import {
  MAX_RETIRED_SUBSCRIPTIONS,
  isVacant,
  type RetiredSubscription,
} from '../retiredSubscription.ts';
import type { Subscription } from '../subscription.ts';

/**
 * Who gets a lineage's deliveries now: its living subscription, or a retired one beside it; both
 * null when nobody does any more.
 */
export interface LineageHolder {
  readonly subscription: Subscription | null;
  /**
   * The one that waits for a successor. One that has a successor stands here when that was not
   * there yet a moment ago.
   */
  readonly retired: RetiredSubscription | null;
}

/**
 * Locks nothing. In this order, so that a lineage that is handed on meanwhile is not taken for
 * dead. @see docs/decisions/0033
 */
export async function findLineageHolder(tx: Tx, lineageId: string): Promise<LineageHolder> {
  const subscription =
    (await tx.subscriptions.peek(lineageId)) ??
    (await tx.subscriptions.find({ where: { lineageId }, limit: 1 }))[0] ??
    null;
  if (subscription) return { subscription, retired: null };
  const retired = await tx.retiredSubscriptions.find({
    where: { lineageId },
    limit: MAX_RETIRED_SUBSCRIPTIONS,
  });
  return { subscription: null, retired: retired.find(isVacant) ?? retired[0] ?? null };
}

/** The holders of lineages as a transaction has found them: each is looked for once. */
export class LineageHolders {
  readonly #tx: Tx;
  readonly #byLineage = new Map<string, Promise<LineageHolder>>();

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  of(lineageId: string): Promise<LineageHolder> {
    let found = this.#byLineage.get(lineageId);
    if (found === undefined)
      this.#byLineage.set(lineageId, (found = findLineageHolder(this.#tx, lineageId)));
    return found;
  }

  /** The transaction has changed it. */
  changed(lineageId: string, holder: LineageHolder): void {
    this.#byLineage.set(lineageId, Promise.resolve(holder));
  }
}
