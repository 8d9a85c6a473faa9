/** Runs functions strictly one after the other, in the order of asking. Costs microtasks only. */
export class Mutex {
  private tail: Promise<unknown> = Promise.resolve();
  /** Counts the functions that have begun; whoever sees the same number twice while `busy` sees one that is slow. */
  begun = 0;
  busy = false;

  run<T>(fn: () => T | Promise<T>): Promise<T> {
    const result = this.tail.then(async () => {
      this.begun += 1;
      this.busy = true;
      try {
        return await fn();
      } finally {
        this.busy = false;
      }
    });
    this.tail = result.catch(() => {});
    return result;
  }
}
