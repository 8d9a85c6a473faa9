import { compareText } from '../../platform/compareText.ts';
import type { Connection } from './connection/database.ts';
import type { JobWrites } from './jobs/jobWrites.ts';
import { MAX_ROWS, type Row, type Table } from './schema/tables.ts';

/** What one transaction writes. */
export interface Written {
  readonly tables: readonly TableWrites[];
  readonly jobs: JobWrites;
}

/** What one transaction writes to one collection. */
export interface TableWrites {
  readonly table: Table;
  readonly removed: readonly string[];
  /** Rows that were read before they were changed. */
  readonly changed: readonly Row[];
  readonly added: readonly Row[];
}

/**
 * Sends all statements before it returns. Those of a collection remove first, then change, then add,
 * so that a unique value is free when it is taken.
 */
export function sendWrites(
  connection: Connection,
  written: readonly { readonly tables: readonly TableWrites[] }[],
): Promise<unknown> {
  const byTable = Map.groupBy(
    written.flatMap(({ tables }) => tables),
    ({ table }) => table,
  );
  const statements = [...byTable].flatMap(([table, writes]) => {
    const removed = writes.flatMap((each) => each.removed);
    const put = [...rowsOf(writes, 'changed'), ...rowsOf(writes, 'added')];
    return [
      ...(removed.length > 0 ? [table.delete(removed.sort())] : []),
      ...Array.from(chunksOf(put), (chunk) => table.upsert(chunk)),
    ];
  });
  return allDone(statements.map((statement) => connection.query(statement)));
}

/** In the order of ids, as all transactions write them. */
const rowsOf = (writes: readonly TableWrites[], kind: 'changed' | 'added'): readonly Row[] =>
  writes.flatMap((each) => each[kind]).sort((a, b) => compareText(a.id, b.id));

function* chunksOf<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < rows.length; at += MAX_ROWS) yield rows.slice(at, at + MAX_ROWS);
}

/**
 * Like Promise.all, but rejects only when all have settled: a statement that is sent after ROLLBACK
 * would run in another caller's transaction.
 */
export async function allDone<T extends readonly unknown[]>(
  promises: [...T],
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
