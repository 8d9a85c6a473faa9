// Prints, when all attacks are over, how each of them slowed others down: a table of latencies and
// ratios.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Above this ratio a row is marked with a `!`. */
const AIMED_P95_RATIO = 3;

export default class SummaryReporter {
  #folder = mkdtempSync(join(tmpdir(), 'abuse-'));

  constructor() {
    process.env.ABUSE_SUMMARY = join(this.#folder, 'summary.jsonl');
  }

  onRunComplete() {
    const lines = read(process.env.ABUSE_SUMMARY).split('\n').filter(Boolean);
    rmSync(this.#folder, { recursive: true, force: true });
    if (lines.length === 0) return;
    process.stdout.write(`\n${lines.map((line) => tableOf(JSON.parse(line))).join('\n')}\n`);
  }
}

const read = (file) => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // no attack was made
  }
};

const COLUMNS = ['', 'p50 before', 'p95 before', 'p50 with', 'p95 with', 'p95 ratio'];

/** The table of one attack. */
function tableOf({ attack, rows, notes }) {
  const cells = rows.map(({ kind, before, during }) => {
    const ratio = during.p95 / before.p95;
    const shownRatio = Number.isFinite(ratio)
      ? `${ratio.toFixed(1)}${ratio > AIMED_P95_RATIO ? ' !' : ''}`
      : '-';
    return [
      `${kind} (${before.count}/${during.count})`,
      ...[before.p50, before.p95, during.p50, during.p95].map(ms),
      shownRatio,
    ];
  });
  const widths = COLUMNS.map((name, n) =>
    Math.max(name.length, ...cells.map((row) => row[n].length)),
  );
  const line = (row) =>
    `    ${row.map((cell, n) => (n === 0 ? cell.padEnd(widths[n]) : cell.padStart(widths[n]))).join('  ')}`;
  const table = rows.length === 0 ? [] : [COLUMNS, ...cells].map(line);
  return [`  ${attack}`, ...table, ...notes.map((note) => `    ${note}`), ''].join('\n');
}

const ms = (value) => (value === null ? '-' : `${value.toFixed(value < 10 ? 1 : 0)} ms`);
