import type { Document } from '../store.ts';
import type { Database } from './connection/database.ts';
import { transactionOn } from './connection/transaction.ts';
import type { Table } from './schema/tables.ts';

const BATCH = 200;

/**
 * Adds their words to rows that an earlier version of the service has written, the newest first.
 * Several processes may do it at once.
 * @returns how many; fewer than a batch when none are left
 */
const addBatch = (database: Database, table: Table): Promise<number> =>
  transactionOn(database, async (connection) => {
    const { rows } = await connection.query(table.findWithoutWords(BATCH));
    if (rows.length > 0)
      await connection.query(
        table.setWords(rows as unknown as readonly { id: string; document: Document }[]),
      );
    return rows.length;
  });

export async function addMissingWords(
  database: Database,
  tables: Iterable<Table>,
  signal: AbortSignal,
): Promise<void> {
  for (const table of tables) {
    if (!table.hasWords) continue;
    while (!signal.aborted && (await addBatch(database, table)) === BATCH);
  }
}
