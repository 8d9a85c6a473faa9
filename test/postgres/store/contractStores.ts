// Stores of the contract's schema on the server that DATABASE_URL names, several on one schema.
import pg from 'pg';
import { PgDatabase } from '../../../service/src/store/postgres/pgDatabase.ts';
import { openPostgresStore, type Connection, type Database } from '../../../service/src/store/postgres/index.ts';
import { silent } from '../../../service/src/store/options.ts';
import { contractMigrations } from '../../contract/openInFreshSchema.ts';
import { contractSchema, type ContractStore } from '../../contract/schema.ts';
import { dropSchema, TEST_SCHEMA } from '../schemas.ts';

const url = process.env.DATABASE_URL!;

export const freshSchema = (): string => `${TEST_SCHEMA}${Math.random().toString(36).slice(2, 10)}`;

/** As a process of its own would open it; `works` false: it asks nothing by itself. */
export const openStore = (schema: string, database: string | Database = url, connections?: number, works = true): Promise<ContractStore> =>
  openPostgresStore(contractSchema, { database, connections, works, schema, migrations: contractMigrations, queues: ['q'] });

/** A client that is nobody of ours. */
export async function openClient(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

export const removeSchema = (schema: string): Promise<void> => dropSchema(url, schema);

/** A process that can be stopped in the very moment before it commits, as by SIGSTOP or a network that fails. */
export class StoppableDatabase implements Database {
  readonly kind = 'postgres';
  readonly #inner = new PgDatabase({ url, connections: 10, log: silent });
  #frozen: PromiseWithResolvers<undefined> | null = null;
  /** How many commits it was stopped before. */
  stopped = 0;

  /** From now on, before the commit of whatever has written anything, jobs or lanes. */
  stopBeforeCommit(): void {
    this.#frozen = Promise.withResolvers();
  }

  goOn(): void {
    this.#frozen?.resolve(undefined);
    this.#frozen = null;
  }

  async connect(): Promise<Connection> {
    const connection = await this.#inner.connect();
    let wrote = false;
    return {
      query: async (statement) => {
        if (/^\s*(INSERT|UPDATE|DELETE|WITH)/.test(statement.text)) wrote = true;
        if (statement.text === 'COMMIT' && wrote && this.#frozen !== null) {
          this.stopped += 1;
          await this.#frozen.promise;
        }
        return connection.query(statement);
      },
      release: (error) => connection.release(error),
    };
  }

  listen: Database['listen'] = (...args) => this.#inner.listen(...args);
  setSessionStatements: Database['setSessionStatements'] = (statements) => this.#inner.setSessionStatements(statements);
  close: Database['close'] = () => this.#inner.close();
}
