import type { Connection } from './database.ts';
import { nameOf } from './sql.ts';

/** Returns the text of a query for `document` and `version`, and appends its values to `values`. */
export type ReadQuery = (values: unknown[]) => string;

export type Rows = readonly Record<string, unknown>[];

/** Each number of queries in a statement is a statement of its own to prepare. */
export const MAX_READ_TOGETHER = 4;

/** Runs queries without locks as one statement, which sees one moment of the database. */
export async function readTogether(
  connection: Connection,
  queries: readonly ReadQuery[],
): Promise<readonly Rows[]> {
  const values: unknown[] = [];
  const texts = queries.map((query) => query(values));
  const isSingle = texts.length === 1;
  const text = isSingle ? texts[0]! : texts.map(asPart).join(' UNION ALL ');
  const { rows } = await connection.query({ text, values, name: nameOf(text) });
  return isSingle ? [rows] : texts.map((_, i) => rows.filter(({ part }) => part === i));
}

const asPart = (text: string, i: number): string =>
  `(SELECT ${i} AS part, document, version FROM (${text}) q)`;
