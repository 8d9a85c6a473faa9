import type { Tally } from '../moving/exportFormat.ts';

/**
 * A line for each collection with its count, and the checksum: the same at an export and at its
 * import.
 */
export function tallyInWords({ counts, sha256 }: Tally): string {
  const width = Math.max(...Object.keys(counts).map((name) => name.length));
  const lines = Object.entries(counts).map(
    ([name, count]) => `  ${name.padEnd(width)}  ${count}\n`,
  );
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return `${lines.join('')}  ${'records in all'.padEnd(width)}  ${total}\n  sha256  ${sha256}\n`;
}
