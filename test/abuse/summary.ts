import { appendFileSync } from 'node:fs';
import { quantile } from '../bench/statistics.ts';
import { KINDS, type Times } from './honestLoad.ts';

/** What the summary at the end of the run says of one attack. @see reporter.mjs */
export interface Part {
  readonly attack: string;
  readonly before: Times | null;
  readonly during: Times | null;
  /** Lines below the table: what the attacker counted, the memory of the service. */
  readonly notes: readonly string[];
}

export function addToSummary({ attack, before, during, notes }: Part): void {
  const file = process.env.ABUSE_SUMMARY;
  if (file === undefined) return;
  const rows = before === null || during === null ? [] : rowsOf(before, during);
  appendFileSync(file, `${JSON.stringify({ attack, rows, notes })}\n`);
}

const rowsOf = (before: Times, during: Times) =>
  KINDS.filter((kind) => before[kind].length > 0).map((kind) => ({
    kind,
    before: figuresOf(before[kind]),
    during: figuresOf(during[kind]),
  }));

const figuresOf = (times: readonly number[]) => ({
  count: times.length,
  p50: quantileOrNull(times, 0.5),
  p95: quantileOrNull(times, 0.95),
});

const quantileOrNull = (times: readonly number[], p: number) =>
  times.length === 0 ? null : quantile(times, p);
