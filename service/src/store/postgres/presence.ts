/** A connection of its own, that lasts as long as the process has the store open. */
interface Session {
  query(text: string, values: unknown[]): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
}

/** The schema is open in other processes, or one of them has it to itself. */
export class SchemaInUse extends Error {
  override readonly name = 'SchemaInUse';
}

/**
 * Says by a lock of the session that this process has a schema open. The server drops it when the process or
 * its connection dies.
 * @param name the same for all who open the schema
 * @param exclusive has it alone: nobody else has it open, or opens it before this one closes
 * @throws SchemaInUse
 */
export async function enter(session: Session, name: string, exclusive: boolean): Promise<void> {
  const { rows } = await session.query(`SELECT pg_try_advisory_lock${exclusive ? '' : '_shared'}(hashtextextended($1, 0)) AS entered`, [name]);
  if (rows[0]!['entered'] === true) return;
  if (!exclusive) throw new SchemaInUse('Another process has it to itself: its encryption key is being changed, or an export is being imported. Start this one when that has ended; after a change of the key, with the new one.');
  const others = await session.query(
    `SELECT count(DISTINCT pid)::int AS count FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid()
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND ((classid::bigint << 32) | objid::bigint) = hashtextextended($1, 0)`,
    [name],
  );
  const count = Number(others.rows[0]!['count']);
  throw new SchemaInUse(`${count === 1 ? 'One process has' : `${count} processes have`} it open. Stop all processes of the service first, on every machine, and see that no other command runs.`);
}
