import type { PGlite } from '@electric-sql/pglite';
import type { Connection, Database, Result } from '../../service/src/store/postgres/index.ts';

/** PostgreSQL in this process, with one connection that everybody takes turns at. */
export class PgliteDatabase implements Database {
  readonly kind = 'pglite';
  readonly #pglite: PGlite;
  #turn: Promise<unknown> = Promise.resolve();
  #statements: readonly string[] = [];

  constructor(pglite: PGlite) {
    this.#pglite = pglite;
  }

  async connect(): Promise<Connection> {
    const turn = Promise.withResolvers<undefined>();
    const before = this.#turn;
    this.#turn = turn.promise;
    await before;
    for (const statement of this.#statements) await this.#pglite.exec(statement);
    this.#statements = [];
    return {
      query: async ({ text, values }) => {
        if (values === undefined) {
          const results = await this.#pglite.exec(text);
          return {
            rows: results.flatMap(({ rows }) => rows),
            rowCount: results.at(-1)?.affectedRows ?? 0,
            command: text.trim().split(' ')[0]!,
          } as Result;
        }
        const { rows, affectedRows } = await this.#pglite.query(text, [...values]);
        return { rows, rowCount: affectedRows ?? rows.length, command: text } as Result;
      },
      release: () => turn.resolve(undefined),
    };
  }

  async listen(
    channel: string,
    onNotification: (payload: string) => void,
    onConnect: () => void,
  ): Promise<() => Promise<void>> {
    const connection = await this.connect();
    const stop = await this.#pglite.listen(channel, onNotification);
    connection.release();
    onConnect();
    return async () => {
      const again = await this.connect();
      await stop();
      again.release();
    };
  }

  setSessionStatements(statements: readonly string[]): void {
    this.#statements = statements;
  }

  /** Needs no guard: nobody else can have this database open. */
  setGuard(): void {}

  async close(): Promise<void> {
    await this.#turn;
  }
}
