// What a store asks of the server, counted in pages and not in time.
import type pg from 'pg';
import type {
  Connection,
  Statement,
} from '../../../service/src/store/postgres/connection/database.ts';
import { WrappedDatabase } from './wrappedDatabase.ts';
import type { ContractStore } from '../../contract/schema.ts';
import { freshSchema, openClient, openQuietStore, removeSchema } from './contractStores.ts';

export interface CountedStore {
  readonly schema: string;
  readonly store: ContractStore;
  readonly client: pg.Client;
  /** The statements of the store, in the order in which it asked them. */
  readonly asked: Statement[];
  /** Runs statements once more. @returns the pages that they look at */
  pagesOf(statements: readonly Statement[]): Promise<number>;
  close(): Promise<void>;
}

/** Keeps the statements that the store sends. */
class KeepingDatabase extends WrappedDatabase {
  readonly asked: Statement[] = [];

  protected wrap(connection: Connection): Connection['query'] {
    return (statement) => {
      this.asked.push(statement);
      return connection.query(statement);
    };
  }
}

export async function openCounted(): Promise<CountedStore> {
  const schema = freshSchema();
  const database = new KeepingDatabase(5);
  const store = await openQuietStore(schema, { database });
  const client = await openClient();
  await client.query('SET enable_seqscan = off');
  return {
    schema,
    store,
    client,
    asked: database.asked,
    async pagesOf(statements) {
      let pages = 0;
      for (const { text, values } of statements) {
        await client.query('BEGIN');
        const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>({
          text: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
          values: [...(values ?? [])],
        });
        await client.query('ROLLBACK');
        const { Plan } = rows[0]!['QUERY PLAN'][0]!;
        pages += Plan['Shared Hit Blocks']! + Plan['Shared Read Blocks']!;
      }
      return pages;
    },
    async close() {
      await client.end();
      await store.close();
      await removeSchema(schema);
    },
  };
}
