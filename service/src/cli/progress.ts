const EVERY_MS = 5_000;

/** Says on standard error every few seconds how far a long command is. */
export class Progress {
  total = 0;
  private readonly timer: NodeJS.Timeout;

  /** @param doing `exported` */
  constructor(doing: string) {
    this.timer = setInterval(
      () => process.stderr.write(`${this.total} records ${doing} so far …\n`),
      EVERY_MS,
    ).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }
}
