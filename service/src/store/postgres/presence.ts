import type { Database, Statement } from './database.ts';
import { runOn } from './database.ts';
import { SchemaInUse, SchemaRewritten } from './errors.ts';
import { quoted } from './sql.ts';

/** A connection of its own, that lasts as long as the process has the store open. */
interface Session {
  query(text: string, values: unknown[]): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
}

/** What a connection of a pool has to pass once before it is used. */
export interface Guard {
  readonly statement: Statement;
  /** @throws what whoever wanted the connection gets in its place */
  check(row: Record<string, unknown>): void;
}

/** Held by each connection of a process beside the one by which it says that it has the schema open. */
const connectionsOf = (name: string): string => `${name} connections`;

/**
 * Says by a lock of the session that this process has a schema open. The server drops it when the process or
 * its connection dies.
 * @param name the same for all who open the schema
 * @param exclusive has it alone: nobody else has it open or a connection to it, or opens one before this one closes
 * @throws SchemaInUse
 */
export async function enter(session: Session, name: string, exclusive: boolean): Promise<void> {
  const lock = async (which: string) => (await session.query(`SELECT pg_try_advisory_lock${exclusive ? '' : '_shared'}(hashtextextended($1, 0)) AS entered`, [which])).rows[0]!['entered'] === true;
  if (!(await lock(name))) {
    if (!exclusive) throw hasItToItself();
    const count = await holdersOf(session, name);
    throw stillOpen(count === 1 ? 'One process has' : `${count} processes have`);
  }
  // Whose presence ended with the one connection that said so may still write over another.
  if (exclusive && !(await lock(connectionsOf(name)))) throw stillOpen(`A process has ${await holdersOf(session, connectionsOf(name))} of its connections to`);
}

async function holdersOf(session: Session, name: string): Promise<number> {
  const { rows } = await session.query(
    `SELECT count(DISTINCT pid)::int AS count FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid()
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND ((classid::bigint << 32) | objid::bigint) = hashtextextended($1, 0)`,
    [name],
  );
  return Number(rows[0]!['count']);
}

/**
 * Keeps each connection of a process from a schema that somebody else has exclusively, and from one whose documents
 * were all rewritten since the process opened it: it would go on with a key that opens nothing any more.
 * @param name as `enter` was given it
 * @param onRewritten called each time that this is found
 */
export async function guardOf(database: Database, schema: string, name: string, onRewritten: (error: SchemaRewritten) => void): Promise<Guard> {
  const generation = `SELECT generation::text FROM ${quoted(schema)}.generation`;
  const opened = (await runOn(database, { text: generation })).rows[0]!['generation'];
  return {
    statement: { text: `SELECT pg_try_advisory_lock_shared(hashtextextended($1, 0)) AS entered, (${generation}) AS generation`, values: [connectionsOf(name)] },
    check(row) {
      if (row['entered'] !== true) throw hasItToItself();
      if (row['generation'] === opened) return;
      const error = new SchemaRewritten('Everything in the database was sealed with another key while this process was cut off from it. Start it again, with the new key.');
      onRewritten(error);
      throw error;
    },
  };
}

const hasItToItself = (): SchemaInUse =>
  new SchemaInUse('Another process has it to itself: its encryption key is being changed, or an export is being imported. Start this one when that has ended; after a change of the key, with the new one.');

const stillOpen = (who: string): SchemaInUse => new SchemaInUse(`${who} it open. Stop all processes of the service first, on every machine, and see that no other command runs.`);
