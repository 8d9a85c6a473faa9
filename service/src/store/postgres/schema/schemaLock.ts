import { runOn, type Connection, type Database, type Guard } from '../connection/database.ts';
import { SchemaInUse, SchemaRewritten, SchemaTaken } from '../connection/errors.ts';
import { quoted } from '../connection/sql.ts';

/** A connection that lasts as long as the process has the store open. */
interface LastingConnection {
  query(
    text: string,
    values: unknown[],
  ): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
}

/** The name of a second lock, which each of a process's other connections holds. */
const connectionsLock = (name: string): string => `${name} connections`;

/**
 * Takes the schema lock, which says that this process has the schema open. The server drops the
 * lock when the connection ends.
 * @param name the same for every process that opens the schema
 * @param exclusive no other process may have the schema open, or open it before this one closes it
 * @throws SchemaInUse, SchemaTaken
 */
export async function lockSchema(
  session: LastingConnection,
  name: string,
  exclusive: boolean,
): Promise<void> {
  const { rows } = await session.query(
    `SELECT pg_try_advisory_lock${exclusive ? '' : '_shared'}(hashtextextended($1, 0)) AS entered`,
    [name],
  );
  if (rows[0]!['entered'] === true) return;
  if (!exclusive) throw schemaTaken();
  const others = await session.query(
    `SELECT count(DISTINCT pid)::int AS count FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid()
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND ((classid::bigint << 32) | objid::bigint) = hashtextextended($1, 0)`,
    [name],
  );
  const count = Number(others.rows[0]!['count']);
  throw schemaInUse(count === 1 ? 'One process has it open' : `${count} processes have it open`);
}

/**
 * Keeps all other processes from using a connection to the schema until the transaction ends. A
 * process that has lost its schema lock may still have other connections, or take the lock again.
 * @param name as given to `lockSchema`
 * @throws SchemaInUse
 */
export async function lockOutConnections(transaction: Connection, name: string): Promise<void> {
  const { rows } = await transaction.query({
    text: 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS alone',
    values: [connectionsLock(name)],
  });
  if (rows[0]!['alone'] !== true)
    throw schemaInUse(
      'A process that has lost its lock on the schema still has connections to it open',
    );
}

/**
 * Refuses connections to a schema that another process has exclusively, or whose documents were all
 * rewritten since this process opened it: this process's key no longer decrypts them.
 * @param name as given to `lockSchema`
 * @param onRewritten called each time a rewrite is found
 */
export async function connectionGuard(
  database: Database,
  schema: string,
  name: string,
  onRewritten: (error: SchemaRewritten) => void,
): Promise<Guard> {
  const generation = {
    text: `SELECT (SELECT generation::text FROM ${generationOf(schema)}) AS generation`,
  };
  const opened = (await runOn(database, generation)).rows[0]!['generation'];
  return async (connection) => {
    // In this order, so that the second statement sees what was committed before the lock.
    const [lock, now] = await Promise.all([
      connection.query({
        text: 'SELECT pg_try_advisory_lock_shared(hashtextextended($1, 0)) AS entered',
        values: [connectionsLock(name)],
      }),
      connection.query(generation),
    ]);
    if (lock.rows[0]!['entered'] !== true) throw schemaTaken();
    if (now.rows[0]!['generation'] === opened) return;
    const error = new SchemaRewritten(
      'Everything in the database was sealed with another key while this process was cut off from it. Start it again, with the new key.',
    );
    onRewritten(error);
    throw error;
  };
}

/**
 * Begins a new generation, by which processes that already have the schema open find out that all
 * documents were rewritten.
 */
export async function beginGeneration(transaction: Connection, schema: string): Promise<void> {
  await transaction.query({
    text: `INSERT INTO ${generationOf(schema)} DEFAULT VALUES ON CONFLICT (id) DO UPDATE SET generation = excluded.generation`,
  });
}

const generationOf = (schema: string): string => `${quoted(schema)}.generation`;

const schemaTaken = (): SchemaTaken =>
  new SchemaTaken(
    'Another process has it to itself: its encryption key is being changed, or an export is being imported. Start this process when that has finished. If the key was changed, start it with the new key.',
  );

const schemaInUse = (reason: string): SchemaInUse =>
  new SchemaInUse(
    `${reason}. Stop all processes of the service first, on every machine, and make sure that no other command runs.`,
  );
