import { runOn, type Connection, type Database } from './database.ts';
import { SchemaInUse, SchemaRewritten, SchemaTaken } from './errors.ts';
import { quoted } from './sql.ts';

/** A connection of its own, that lasts as long as the process has the store open. */
interface UnitOfWork {
  query(
    text: string,
    values: unknown[],
  ): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
}

/** What a connection of a pool has to pass once before it is used. */
export interface Guard {
  /** @throws what whoever wanted the connection gets in its place */
  pass(connection: Connection): Promise<void>;
}

/**
 * Held by each connection of a process beside the one by which it says that it has the schema open.
 */
const connectionsOf = (name: string): string => `${name} connections`;

/**
 * Says by a lock of the session that this process has a schema open. The server drops it when the
 * process or its connection dies.
 * @param name the same for all who open the schema
 * @param exclusive nobody else has it open, or opens it before this one closes
 * @throws SchemaInUse, SchemaTaken
 */
export async function enter(session: UnitOfWork, name: string, exclusive: boolean): Promise<void> {
  const { rows } = await session.query(
    `SELECT pg_try_advisory_lock${exclusive ? '' : '_shared'}(hashtextextended($1, 0)) AS entered`,
    [name],
  );
  if (rows[0]!['entered'] === true) return;
  if (!exclusive) throw hasItToItself();
  const others = await session.query(
    `SELECT count(DISTINCT pid)::int AS count FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid()
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND ((classid::bigint << 32) | objid::bigint) = hashtextextended($1, 0)`,
    [name],
  );
  const count = Number(others.rows[0]!['count']);
  throw stillOpen(count === 1 ? 'One process has' : `${count} processes have`);
}

/**
 * Keeps all others from using a connection to the schema until the transaction ends: whose presence
 * ended with the one connection that said so could still write over another, or come back
 * meanwhile.
 * @param name as `enter` was given it
 * @throws SchemaInUse
 */
export async function lockOutConnections(transaction: Connection, name: string): Promise<void> {
  const { rows } = await transaction.query({
    text: 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS alone',
    values: [connectionsOf(name)],
  });
  if (rows[0]!['alone'] !== true)
    throw stillOpen('A process that has lost its place still has connections to');
}

/**
 * Keeps each connection of a process from a schema that somebody else rewrites, and from one whose
 * documents were all rewritten since the process opened it: it would go on with a key that opens
 * nothing any more.
 * @param name as `enter` was given it
 * @param onRewritten called each time that this is found
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
  return {
    async pass(connection) {
      // Two statements, in this order: the second sees what was committed before the first was
      // given its lock.
      const [lock, now] = await Promise.all([
        connection.query({
          text: 'SELECT pg_try_advisory_lock_shared(hashtextextended($1, 0)) AS entered',
          values: [connectionsOf(name)],
        }),
        connection.query(generation),
      ]);
      if (lock.rows[0]!['entered'] !== true) throw hasItToItself();
      if (now.rows[0]!['generation'] === opened) return;
      const error = new SchemaRewritten(
        'Everything in the database was sealed with another key while this process was cut off from it. Start it again, with the new key.',
      );
      onRewritten(error);
      throw error;
    },
  };
}

/** Whoever opened the schema before finds out that all its documents were rewritten. */
export async function beginGeneration(transaction: Connection, schema: string): Promise<void> {
  await transaction.query({
    text: `INSERT INTO ${generationOf(schema)} DEFAULT VALUES ON CONFLICT (id) DO UPDATE SET generation = excluded.generation`,
  });
}

const generationOf = (schema: string): string => `${quoted(schema)}.generation`;

const hasItToItself = (): SchemaTaken =>
  new SchemaTaken(
    'Another process has it to itself: its encryption key is being changed, or an export is being imported. Start this one when that has ended; after a change of the key, with the new one.',
  );

const stillOpen = (who: string): SchemaInUse =>
  new SchemaInUse(
    `${who} it open. Stop all processes of the service first, on every machine, and see that no other command runs.`,
  );
