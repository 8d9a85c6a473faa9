import { compareStrings, sortedTree, type SortedTree } from './sortedTree.ts';
import type { JobGroup } from './jobGroup.ts';

const byWaking = (a: JobGroup, b: JobGroup): number =>
  a.wakeAt! - b.wakeAt! || compareStrings(a.name, b.name);

/**
 * The groups of one share. They sleep, sorted by their next job's time, until they are due; then
 * they stand in a round and are served in turn.
 */
export class JobShare {
  readonly name: string;
  readonly sleeping: SortedTree<JobGroup> = sortedTree(byWaking);
  readonly round = new Set<JobGroup>();
  /** When the queue looks at its sleeping groups again; null while none sleeps. */
  wakeAt: number | null = null;

  constructor(name: string) {
    this.name = name;
  }

  /** When the first of its sleeping groups is due; null: none sleeps. */
  get nextWakeAt(): number | null {
    return this.sleeping.minKey()?.wakeAt ?? null;
  }

  /** Puts the groups that have become due into the round. */
  wake(now: number): void {
    const first = () => this.sleeping.minKey();
    for (let group = first(); group !== undefined && group.wakeAt! <= now; group = first()) {
      this.sleeping.delete(group);
      group.wakeAt = null;
      this.round.add(group);
    }
  }
}
