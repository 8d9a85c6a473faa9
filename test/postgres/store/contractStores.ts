// Stores of the contract's schema on the server that DATABASE_URL names, several on one schema.
import pg from 'pg';
import {
  openPostgresStore,
  type Connection,
  type PostgresOptions,
} from '../../../service/src/store/postgres/index.ts';
import { contractMigrations } from '../../contract/migrations.ts';
import { contractSchema, type ContractStore } from '../../contract/schema.ts';
import { dropSchema, TEST_SCHEMA } from '../schemas.ts';
import { WrappedDatabase } from './wrappedDatabase.ts';

const url = process.env.DATABASE_URL!;

export const freshSchema = (): string => `${TEST_SCHEMA}${Math.random().toString(36).slice(2, 10)}`;

/** Opens a store as another process would. */
export const openStore = (
  schema: string,
  options: Partial<PostgresOptions> = {},
): Promise<ContractStore> =>
  openPostgresStore(contractSchema, {
    database: url,
    schema,
    migrations: contractMigrations,
    queues: ['q'],
    ...options,
  });

/** Opens a store that sends nothing by itself. */
export const openQuietStore = (
  schema: string,
  options: Partial<PostgresOptions> = {},
): Promise<ContractStore> => openStore(schema, { runsJobs: false, ...options });

/** A client that belongs to no store. */
export async function openClient(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

export const removeSchema = (schema: string): Promise<void> => dropSchema(url, schema);

/**
 * The database of a process that can be stopped, as by SIGSTOP or a network that fails: at once, or
 * just before it sends a certain statement.
 */
export class StoppableDatabase extends WrappedDatabase {
  #stop: {
    readonly before: (text: string, wrote: boolean) => boolean;
    readonly gate: PromiseWithResolvers<undefined>;
  } | null = null;
  /** How many statements stand still. */
  stopped = 0;

  constructor() {
    super(10);
  }

  /** From now on it sends nothing. */
  stop(): void {
    this.stopBefore(() => true);
  }

  /** Stops it before the next commit of a transaction that has written something. */
  stopBeforeCommit(): void {
    this.stopBefore((text, wrote) => text === 'COMMIT' && wrote);
  }

  stopBefore(before: (text: string, wrote: boolean) => boolean): void {
    this.stopped = 0;
    this.#stop = { before, gate: Promise.withResolvers() };
  }

  goOn(): void {
    this.#stop?.gate.resolve(undefined);
    this.#stop = null;
  }

  protected wrap(connection: Connection): Connection['query'] {
    let wrote = false;
    return async (statement) => {
      if (/^\s*(INSERT|UPDATE|DELETE|WITH)/.test(statement.text)) wrote = true;
      if (this.#stop?.before(statement.text, wrote)) {
        // From here on it sends nothing else either.
        if (this.stopped === 0) this.#stop = { ...this.#stop, before: () => true };
        this.stopped += 1;
        await this.#stop.gate.promise;
      }
      return connection.query(statement);
    };
  }
}
