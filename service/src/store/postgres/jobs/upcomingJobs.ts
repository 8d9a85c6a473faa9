import { fromText } from '../connection/sql.ts';
import type { Look } from './look.ts';

/** When the jobs of a queue will be due, as a look saw it, and whether to look again. */
export class UpcomingJobs {
  /** When to look next, by the database's clock. */
  #nextDueAt = -Infinity;
  /** The earliest time given to `expect` since the last look began. */
  #expectedAt = Infinity;
  /** The database's time of the last look. */
  #lookedUntil = 0;
  /** How far before `#lookedUntil` the next look begins. Infinity: it looks at everything. */
  #backMs = Infinity;
  /** When the last look began, in steady milliseconds. */
  #lookedAt = -Infinity;
  /** Sorted by `dueAt`. */
  #upcoming: readonly { readonly group: string; readonly dueAt: number }[] = [];
  #readUntil = Infinity;

  /** Whether something is due by then that no look has seen. */
  isDueBy(now: number): boolean {
    return now >= this.#nextDueAt;
  }

  wasSeenWithin(ms: number): boolean {
    return performance.now() - this.#lookedAt < ms;
  }

  /** A job is due at that time, by the database's clock. */
  expect(dueAt: number): void {
    this.#expectedAt = Math.min(this.#expectedAt, dueAt);
    this.#nextDueAt = Math.min(this.#nextDueAt, dueAt);
    this.#lookedAt = -Infinity;
  }

  /** Looks soon, also for jobs that were due that long before the last look. */
  lookBack(ms: number): void {
    this.#backMs = Math.max(this.#backMs, ms);
    this.expect(-Infinity);
  }

  /** @returns from when the look finds due jobs, by the database's clock; null: it finds all */
  beginLook(): number | null {
    const from = this.#backMs === Infinity ? null : this.#lookedUntil - this.#backMs;
    this.#backMs = 0;
    this.#expectedAt = Infinity;
    this.#lookedAt = performance.now();
    return from;
  }

  endLook({ now, groups, readUntil }: Look): void {
    this.#upcoming = groups
      .flatMap(({ group, dueAt }) => (dueAt === null ? [] : [{ group: fromText(group), dueAt }]))
      .sort((a, b) => a.dueAt - b.dueAt);
    this.#readUntil = readUntil ?? Infinity;
    this.#nextDueAt = Math.min(this.#upcoming[0]?.dueAt ?? Infinity, this.#expectedAt);
    // The database's clock was set back.
    if (now < this.#lookedUntil) this.lookBack(Infinity);
    this.#lookedUntil = now;
  }

  /**
   * When the next job of a group that counts is due, by the database's clock; Infinity: there is
   * none. Beyond what was read, nobody knows whose jobs there are: then it is when to look again.
   */
  nextOf(counts: (group: string) => boolean): number {
    return this.#upcoming.find(({ group }) => counts(group))?.dueAt ?? this.#readUntil;
  }
}
