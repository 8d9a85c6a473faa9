/** How many leases a process holds, by queue. It tells the others; null when it stops. */
export type Load = Readonly<Record<string, number>> | null;

/** A process that has been silent for this long no longer counts. */
const SILENT_AFTER_MS = 5_000;

/** Compares how many leases of each queue the workers hold with how many each should hold. */
export class LeaseBalance {
  readonly #others = new Map<
    string,
    { readonly load: Readonly<Record<string, number>>; readonly heardAt: number }
  >();
  readonly #now: () => number;
  /** The surplus by queue at the last comparison. */
  #before = new Map<string, number>();

  /** @param now a steady clock, in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  hear(from: string, load: Load): void {
    if (load === null) this.#others.delete(from);
    else this.#others.set(from, { load, heardAt: this.#now() });
  }

  /** No other process works. */
  get isAlone(): boolean {
    return this.#loads().length === 0;
  }

  /**
   * @param own leases with work, by queue
   * @returns how many leases of each queue to give back: only what was too many the last time too
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
