/**
 * Runs functions strictly one after the other, in the order of asking; at once when none runs.
 * Costs microtasks only.
 */
export class Mutex {
  private readonly waiting: (() => void)[] = [];
  /**
   * Counts the functions that have begun; whoever sees the same number twice while `busy` sees one
   * that is slow.
   */
  begun = 0;
  busy = false;

  async run<T>(fn: () => T | Promise<T>): Promise<T> {
    if (this.busy) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.busy = true;
    this.begun += 1;
    try {
      return await fn();
    } finally {
      // Handed over while still busy: nobody gets in between.
      const next = this.waiting.shift();
      if (next === undefined) this.busy = false;
      else next();
    }
  }
}
