import { toJson } from '../document.ts';
import type { Document } from '../store.ts';
import { runOn, type Connection, type Database } from './connection/database.ts';
import { beginGeneration, lockOutConnections } from './schema/schemaLock.ts';
import { tableName } from './connection/sql.ts';
import type { OpenSchema, Table } from './schema/tables.ts';
import { transactionOnce } from './connection/transaction.ts';

const PAGE = 200;

/** Every table of documents, also of collections that the schema no longer names. */
async function documentTables(
  connection: Connection,
  schemaName: string,
): Promise<readonly string[]> {
  const { rows } = await connection.query({
    text: `SELECT table_name FROM information_schema.columns WHERE table_schema = $1 AND column_name = 'document' AND table_name <> 'changes' ORDER BY table_name`,
    values: [schemaName],
  });
  return rows.map(({ table_name }) => String(table_name));
}

/** Replaces every document with what `change` returns, in one transaction. All other writes wait. */
export async function rewriteAll(
  { database, schemaName, tables, exclusiveLock }: OpenSchema,
  change: (document: Document, collection: string) => Document,
): Promise<void> {
  const byTable = new Map([...tables.values()].map((table) => [table.name, table]));
  await transactionOnce(database, schemaName, async (connection) => {
    await connection.query({ text: 'SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0' });
    if (exclusiveLock !== null) await lockOutConnections(connection, exclusiveLock);
    const names = await documentTables(connection, schemaName);
    for (const name of names)
      await connection.query({
        text: `LOCK TABLE ${tableName(schemaName, name)} IN EXCLUSIVE MODE`,
      });
    if (exclusiveLock !== null) await beginGeneration(connection, schemaName);
    for (const name of names) {
      const full = tableName(schemaName, name);
      await rewriteTable(connection, full, name, byTable.get(full), change);
    }
  });
}

/** @param table undefined for a collection that the schema no longer names */
async function rewriteTable(
  connection: Connection,
  fullName: string,
  name: string,
  table: Table | undefined,
  change: (document: Document, collection: string) => Document,
): Promise<void> {
  for (let after = ''; ; ) {
    const { rows } = await connection.query({
      text: `SELECT id, document FROM ${fullName} WHERE id > $1 ORDER BY id LIMIT ${PAGE}`,
      values: [after],
    });
    for (const { id, document } of rows as readonly { id: string; document: Document }[]) {
      const changed = change(document, table?.collection ?? name);
      if (changed === document) continue;
      const json = toJson(name, changed);
      await connection.query(
        table?.upsert([{ id: changed.id, json, document: changed }]) ?? {
          text: `UPDATE ${fullName} SET document = $2 WHERE id = $1`,
          values: [id, json], // the id as its column holds it
        },
      );
    }
    if (rows.length < PAGE) break;
    after = String(rows.at(-1)!.id);
  }
}

/**
 * Removes former versions of documents from the tables' files, not from the server's log or
 * backups.
 */
export async function vacuumAll(database: Database, schemaName: string): Promise<void> {
  await runOn(database, { text: `TRUNCATE ${tableName(schemaName, 'changes')}` });
  const connection = await database.connect();
  try {
    const names = await documentTables(connection, schemaName);
    await connection.query({ text: 'SET statement_timeout = 0' });
    for (const name of names)
      await connection.query({ text: `VACUUM FULL ${tableName(schemaName, name)}` });
    await connection.query({ text: 'RESET statement_timeout' });
    connection.release();
  } catch (error) {
    // The pool must not keep a connection without a statement timeout.
    connection.release(new Error('it may have no statement timeout', { cause: error }));
    throw error;
  }
}
