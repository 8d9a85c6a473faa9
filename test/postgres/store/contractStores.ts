// Stores of the contract's schema on the server that DATABASE_URL names, several on one schema.
import pg from 'pg';
import {
  openPostgresStore,
  type Connection,
  type Database,
} from '../../../service/src/store/postgres/index.ts';
import { contractMigrations } from '../../contract/migrations.ts';
import { contractSchema, type ContractStore } from '../../contract/schema.ts';
import { dropSchema, TEST_SCHEMA } from '../schemas.ts';
import { WrappedDatabase } from './wrappedDatabase.ts';

const url = process.env.DATABASE_URL!;

export const freshSchema = (): string => `${TEST_SCHEMA}${Math.random().toString(36).slice(2, 10)}`;

/** As a process of its own would open it; `runsJobs` false: it asks nothing by itself. */
export const openStore = (
  schema: string,
  database: string | Database = url,
  connections?: number,
  runsJobs = true,
): Promise<ContractStore> =>
  openPostgresStore(contractSchema, {
    database,
    connections,
    runsJobs,
    schema,
    migrations: contractMigrations,
    queues: ['q'],
  });

/** A client that is nobody of ours. */
export async function openClient(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

export const removeSchema = (schema: string): Promise<void> => dropSchema(url, schema);

/**
 * A process that can be stopped, as by SIGSTOP or a network that fails: at once, or in the very
 * moment before it sends something.
 */
export class StoppableDatabase extends WrappedDatabase {
  #stop: {
    readonly before: (text: string, wrote: boolean) => boolean;
    readonly gate: PromiseWithResolvers<undefined>;
  } | null = null;
  /** How many statements stand still. */
  stopped = 0;
  /** What was answered. */
  readonly answered: string[] = [];

  constructor() {
    super(10);
  }

  /** From now on it sends nothing. */
  stop(): void {
    this.stopBefore(() => true);
  }

  /** From now on, before the commit of whatever has written anything. */
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
        // nothing else of it goes on either
        if (this.stopped === 0) this.#stop = { ...this.#stop, before: () => true };
        this.stopped += 1;
        await this.#stop.gate.promise;
      }
      const result = await connection.query(statement);
      this.answered.push(statement.text);
      return result;
    };
  }
}
