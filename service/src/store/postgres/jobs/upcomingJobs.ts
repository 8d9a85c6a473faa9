import { fromText } from '../connection/sql.ts';
import type { Look } from './look.ts';

/**
 * When the next jobs of a queue are due, and when to look again. A look reads which jobs are due and
 * which are due next.
 */
export class UpcomingJobs {
  /** When to look next, by the database's clock. */
  #nextLookAt = -Infinity;
  /** The earliest time given to `expect` since the last look began. */
  #expectedAt = Infinity;
  /** The database's time at the last look. */
  #lastLookTime = 0;
  /** How far the next look goes back before `#lastLookTime`. Infinity: it finds all due jobs. */
  #backMs = Infinity;
  /** In steady milliseconds. */
  #lastLookBeganAt = -Infinity;
  /** Sorted by `dueAt`. */
  #upcoming: readonly { readonly group: string; readonly dueAt: number }[] = [];
  /** The last look has read no jobs that are due after this. */
  #readUntil = Infinity;

  /** Whether it is time to look: a job may have become due since the last look. */
  isLookDue(now: number): boolean {
    return now >= this.#nextLookAt;
  }

  hasLookedWithin(ms: number): boolean {
    return performance.now() - this.#lastLookBeganAt < ms;
  }

  /** Notes that a job is due at this time, by the database's clock. This outdates the last look. */
  expect(dueAt: number): void {
    this.#expectedAt = Math.min(this.#expectedAt, dueAt);
    this.#nextLookAt = Math.min(this.#nextLookAt, dueAt);
    this.#lastLookBeganAt = -Infinity;
  }

  /** Makes a look due now. It also finds jobs that became due up to `ms` before the last look. */
  lookBack(ms: number): void {
    this.#backMs = Math.max(this.#backMs, ms);
    this.expect(-Infinity);
  }

  /** @returns the look finds jobs that became due after this, by the database's clock; null: all */
  beginLook(): number | null {
    const from = this.#backMs === Infinity ? null : this.#lastLookTime - this.#backMs;
    this.#backMs = 0;
    this.#expectedAt = Infinity;
    this.#lastLookBeganAt = performance.now();
    return from;
  }

  endLook({ now, groups, readUntil }: Look): void {
    this.#upcoming = groups
      .flatMap(({ group, dueAt }) => (dueAt === null ? [] : [{ group: fromText(group), dueAt }]))
      .sort((a, b) => a.dueAt - b.dueAt);
    this.#readUntil = readUntil ?? Infinity;
    this.#nextLookAt = Math.min(this.#upcoming[0]?.dueAt ?? Infinity, this.#expectedAt);
    // The database's clock was set back.
    if (now < this.#lastLookTime) this.lookBack(Infinity);
    this.#lastLookTime = now;
  }

  /**
   * When the next job of an accepted group is due, by the database's clock; Infinity without one.
   * When the look did not read far enough to find one: the time up to which it has read.
   */
  nextDueAt(accepts: (group: string) => boolean): number {
    return this.#upcoming.find(({ group }) => accepts(group))?.dueAt ?? this.#readUntil;
  }
}
