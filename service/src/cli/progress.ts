import type { Tally } from '../moving/exportFormat.ts';

const INTERVAL_MS = 5_000;

/** Reports the progress of a long command on standard error, every few seconds. */
export class Progress {
  total = 0;
  private readonly timer: NodeJS.Timeout;

  /** @param doing `exported` */
  constructor(doing: string) {
    this.timer = setInterval(
      () => process.stderr.write(`${this.total} records ${doing} so far …\n`),
      INTERVAL_MS,
    ).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }
}

/**
 * A line for each collection with its count, then the checksum. An export and its import print the
 * same lines.
 */
export function tallyLines({ counts, sha256 }: Tally): string {
  const width = Math.max(...Object.keys(counts).map((name) => name.length));
  const lines = Object.entries(counts).map(
    ([name, count]) => `  ${name.padEnd(width)}  ${count}\n`,
  );
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return `${lines.join('')}  ${'records in all'.padEnd(width)}  ${total}\n  sha256  ${sha256}\n`;
}
