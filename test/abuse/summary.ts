import { appendFileSync } from 'node:fs';
import { quantile } from '../bench/statistics.ts';
import { KINDS, type Times } from './beside.ts';

/** A part of the summary that the run prints last. @see reporter.mjs */
export interface Part {
  readonly attack: string;
  readonly before: Times | null;
  readonly during: Times | null;
  /** What the attacker counted, and the memory of the service. */
  readonly notes: readonly string[];
}

export function addToSummary({ attack, before, during, notes }: Part): void {
  const rows =
    before === null || during === null
      ? []
      : KINDS.map((kind) => ({
          kind,
          before: figuresOf(before[kind]),
          during: figuresOf(during[kind]),
        }));
  const file = process.env.ABUSE_SUMMARY;
  if (file !== undefined)
    appendFileSync(
      file,
      `${JSON.stringify({ attack, rows: rows.filter(({ before: { count } }) => count > 0), notes })}\n`,
    );
}

const figuresOf = (times: readonly number[]) => ({
  count: times.length,
  p50: quantileOrNull(times, 0.5),
  p95: quantileOrNull(times, 0.95),
});

const quantileOrNull = (times: readonly number[], p: number) =>
  times.length === 0 ? null : quantile(times, p);
