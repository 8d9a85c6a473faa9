import { Batcher, isolateFailures } from '../../platform/async/batcher.ts';
import type { Result, Statement } from './connection/database.ts';
import { isOutage } from './connection/errors.ts';
import { nameOf } from './connection/sql.ts';

/** A query for `document` and `version`. Its text names its values `q.p0`, `q.p1`, … */
export interface ReadQuery {
  readonly text: string;
  readonly types: readonly string[];
  readonly values: readonly unknown[];
}

export type Rows = readonly Record<string, unknown>[];

/** The most queries in a statement. Each number of queries is another statement to prepare. */
export const MAX_READ_TOGETHER = 4;

/** After this time, a trip (for a large page, say) no longer keeps others waiting. */
const SLOW_MS = 20;

interface ReadsOptions {
  /** Runs statements in one trip. */
  readonly run: (statements: readonly Statement[]) => Promise<readonly Result[]>;
  /** How many trips are under way at once. Until one ends, reads are collected. */
  readonly maxRunning?: number;
}

/**
 * Reads without locks for several transactions. What they ask for at the same time is sent in one
 * trip, and queries that differ only in their values become one statement.
 */
export class Reads {
  readonly #run: ReadsOptions['run'];
  readonly #batcher: Batcher<readonly ReadQuery[], readonly Rows[]>;

  constructor({ run, maxRunning }: ReadsOptions) {
    this.#run = run;
    this.#batcher = new Batcher({
      run: isolateFailures((asked) => this.#runAll(asked), isOutage),
      schedule: process.nextTick,
      ...(maxRunning !== undefined && { maxRunning, slowMs: SLOW_MS }),
    });
  }

  /** Runs queries as one statement, which sees one moment of the database. */
  together(queries: readonly ReadQuery[]): Promise<readonly Rows[]> {
    return this.#batcher.add(queries);
  }

  async #runAll(asked: readonly (readonly ReadQuery[])[]): Promise<readonly (readonly Rows[])[]> {
    const statements = [...Map.groupBy(asked.keys(), (i) => textOf(asked[i]!))].map(
      ([text, indexes]) => ({ text, calls: callsOf(asked, indexes) }),
    );
    const results = await this.#run(
      statements.map(({ text, calls }) => ({
        text,
        values: columnsOf(calls.map(({ values }) => values)),
        name: nameOf(text),
      })),
    );
    const answers: Rows[][] = asked.map((queries) => queries.map(() => []));
    for (const [at, { calls }] of statements.entries())
      for (const row of results[at]!.rows)
        for (const index of calls[Number(row.n) - 1]!.indexes)
          (answers[index]![Number(row.part)] as Record<string, unknown>[]).push(row);
    return answers;
  }
}

/** The values that a statement is called with, and who asked for them. */
interface Call {
  readonly values: readonly unknown[];
  readonly indexes: readonly number[];
}

/** Who asks for the same values shares a call: many deliveries have the same subscription. */
function callsOf(
  asked: readonly (readonly ReadQuery[])[],
  indexes: readonly number[],
): readonly Call[] {
  const valuesOf = (index: number) => asked[index]!.flatMap(({ values }) => values);
  const alike = Map.groupBy(indexes, (index) => JSON.stringify(valuesOf(index)));
  return [...alike.values()].map((same) => ({ values: valuesOf(same[0]!), indexes: same }));
}

/**
 * The text for queries that are asked several times with different values: each time is a row of
 * `q`. Each list of values is a SELECT of its own, so that the server cannot see how long it is.
 * Otherwise the server plans the statement again with each call, because a plan for this number of
 * rows looks cheaper than a plan for any number.
 */
function textOf(queries: readonly ReadQuery[]): string {
  let first = 0;
  const parts = queries.map(({ text, types }, part) => {
    const own = text.replace(/q\.p(\d+)/g, (_, place: string) => `q.p${first + Number(place)}`);
    first += types.length;
    return `(SELECT ${part} AS part, document, version FROM (${own}) r)`;
  });
  const types = queries.flatMap((query) => query.types);
  const lists = types.map((type, i) => `(SELECT $${i + 1}::${type}[])`).join(', ');
  const names = types.map((_, i) => `p${i}`).join(', ');
  return `SELECT q.n::int AS n, d.part, d.document, d.version FROM unnest(${lists}) WITH ORDINALITY q (${names}, n) CROSS JOIN LATERAL (${parts.join(' UNION ALL ')}) d`;
}

const columnsOf = (rows: readonly (readonly unknown[])[]): unknown[][] =>
  rows[0]!.map((_, column) => rows.map((row) => row[column]));
