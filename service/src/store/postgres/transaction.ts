import type { Connection, Database, Result } from './database.ts';

const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';

/** One transaction on a borrowed connection. Reads without locks need no BEGIN. */
export class OpenTransaction {
  readonly connection: Connection;
  #begun: Promise<Result> | null = null;
  #isOver = false;
  #lost: Error | undefined;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** Whether BEGIN was sent. */
  get isBegun(): boolean {
    return this.#begun !== null;
  }

  /** Sends BEGIN, once. Reads may be sent before it resolves, writes may not. */
  begin(text = BEGIN): Promise<unknown> {
    if (this.#begun === null) {
      this.#begun = this.connection.query({ text });
      this.#begun.catch(() => {}); // a write waits for it and fails
    }
    return this.#begun;
  }

  /**
   * Sends COMMIT at once. No statement may follow.
   * @throws Error when an earlier statement failed; then nothing that the transaction wrote is kept
   */
  async commit(): Promise<void> {
    this.#isOver = true;
    const { command } = await this.connection.query({ text: 'COMMIT' }).catch((error: Error) => {
      this.#lost = error;
      throw error;
    });
    if (command !== 'COMMIT') throw new Error('the transaction could not be committed');
  }

  /** Rolls back what was not committed and releases the connection. Call it once. */
  async end(): Promise<void> {
    if (this.isBegun && !this.#isOver)
      await this.connection
        .query({ text: 'ROLLBACK' })
        .catch((error: Error) => (this.#lost = error));
    this.connection.release(this.#lost);
  }
}

/** The number of the connection's transaction. */
export async function readXid(connection: Connection): Promise<string> {
  const { rows } = await connection.query({
    text: 'SELECT pg_current_xact_id()::text AS xid',
    name: 'cs_xid',
  });
  return String(rows[0]!.xid);
}

/**
 * Runs statements in one transaction. When `run` throws, none of them has an effect.
 * @param begin the statement that begins it
 */
export async function transactionOn<T>(
  database: Database,
  run: (connection: Connection) => Promise<T>,
  begin?: string,
): Promise<T> {
  const transaction = new OpenTransaction(await database.connect());
  try {
    await transaction.begin(begin);
    const value = await run(transaction.connection);
    await transaction.commit();
    return value;
  } finally {
    await transaction.end();
  }
}
