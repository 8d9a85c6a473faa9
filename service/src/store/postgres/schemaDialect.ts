import { PostgresDialect, type DatabaseIntrospector, type Kysely, type PostgresPool } from 'kysely';
import { runOn, type Connection, type Database } from './database.ts';

/**
 * Kysely on a database of ours, for one schema: it is told of that schema's tables only. By itself
 * it reads every column of every table in the database, and fails when another program removes one
 * of them meanwhile.
 */
export class SchemaDialect extends PostgresDialect {
  readonly #database: Database;
  readonly #schema: string;

  constructor(database: Database, schema: string) {
    super({ pool: poolOf(database) });
    this.#database = database;
    this.#schema = schema;
  }

  override createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    const whole = super.createIntrospector(db);
    return {
      getSchemas: () => whole.getSchemas(),
      getTables: async () => {
        const { rows } = await runOn(this.#database, {
          text: 'SELECT tablename AS name FROM pg_tables WHERE schemaname = $1',
          values: [this.#schema],
        });
        return rows.map(({ name }) => ({
          name: String(name),
          schema: this.#schema,
          isView: false,
          isForeign: false,
          columns: [],
        }));
      },
    };
  }
}

const poolOf = (database: Database): PostgresPool => ({
  async connect() {
    const connection: Connection = await database.connect();
    // Another process may be at work on large tables, and so may this one.
    await connection
      .query({ text: 'SET lock_timeout = 0; SET statement_timeout = 0' })
      .catch((error: Error) => {
        connection.release(error); // a pool ends when all of its connections are back
        throw error;
      });
    return {
      query: ((text: string, values: readonly unknown[]) =>
        connection.query({ text, ...(values?.length > 0 && { values }) }) as never) as never,
      release: () =>
        void connection.query({ text: 'RESET lock_timeout; RESET statement_timeout' }).then(
          () => connection.release(),
          (error: Error) => connection.release(error),
        ),
    };
  },
  end: async () => {},
  options: {},
});
