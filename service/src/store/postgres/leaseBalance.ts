/**
 * What a process that works says of itself every second: how many leases it serves, by queue. Null:
 * it works no more.
 */
export type Load = Readonly<Record<string, number>> | null;

/** A process that has said nothing for so long does not count. */
const SILENT_AFTER_MS = 5_000;

/**
 * How many leases of each queue the processes serve, as they tell each other, and how many each
 * should.
 */
export class LeaseBalance {
  readonly #others = new Map<
    string,
    { readonly load: Readonly<Record<string, number>>; readonly heardAt: number }
  >();
  readonly #now: () => number;
  /** By queue, how many too many it was a moment ago. */
  #before = new Map<string, number>();

  /** @param now a steady clock, in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  hear(from: string, load: Load): void {
    if (load === null) this.#others.delete(from);
    else this.#others.set(from, { load, heardAt: this.#now() });
  }

  /** Nobody else works. */
  get isAlone(): boolean {
    return this.#loads().length === 0;
  }

  /**
   * Held against what the others said last.
   * @param own leases with work, by queue
   * @returns how many of each queue are to be given back: what was too many the last time and still
   * is
   */
  surplus(own: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
    const loads = this.#loads();
    const now = new Map<string, number>();
    for (const [queue, count] of own) {
      const all = loads.reduce((sum, load) => sum + (load[queue] ?? 0), count);
      now.set(queue, count - Math.ceil(all / (loads.length + 1)));
    }
    const before = this.#before;
    this.#before = now;
    return new Map(
      [...now]
        .map(([queue, count]) => [queue, Math.min(count, before.get(queue) ?? 0)] as const)
        .filter(([, count]) => count > 0),
    );
  }

  #loads(): readonly Readonly<Record<string, number>>[] {
    const silentAt = this.#now() - SILENT_AFTER_MS;
    for (const [from, { heardAt }] of this.#others)
      if (heardAt < silentAt) this.#others.delete(from);
    return [...this.#others.values()].map(({ load }) => load);
  }
}
