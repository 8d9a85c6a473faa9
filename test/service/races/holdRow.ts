// On PostgreSQL: decides which of two changes comes first by holding a row that the other needs.
import pg from 'pg';
import { testDatabaseUrl } from '../../helpers/storage.ts';

interface HeldRow {
  /** How many transactions wait for the row, or for one that waits for it. */
  countWaiting(): Promise<number>;
  release(): Promise<void>;
}

/** Locks a document: a transaction that changes it waits until the row is released. */
export async function holdRow(schema: string, table: string, id: string): Promise<HeldRow> {
  const holder = new pg.Client({ connectionString: testDatabaseUrl()! });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query(`SELECT FROM "${schema}"."${table}" WHERE id = $1 FOR UPDATE`, [id]);
  return {
    async countWaiting() {
      const { rowCount } = await holder.query(
        `WITH RECURSIVE held(pid) AS (
           SELECT pg_backend_pid()
           UNION
           SELECT waiting.pid FROM held
             JOIN pg_stat_activity waiting ON held.pid = ANY(pg_blocking_pids(waiting.pid)))
         SELECT FROM held WHERE pid <> pg_backend_pid()`,
      );
      return rowCount ?? 0;
    },
    release: () => holder.end(),
  };
}
