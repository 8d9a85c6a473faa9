import type { Connection, Database, Result } from './database.ts';

const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';

/**
 * One transaction on a borrowed connection, begun when it is needed: what only reads without locks
 * has no use for one.
 */
export class OpenTransaction {
  readonly connection: Connection;
  #begun: Promise<Result> | null = null;
  #isOver = false;
  #lost: Error | undefined;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** BEGIN was sent. */
  get isBegun(): boolean {
    return this.#begun !== null;
  }

  /**
   * Sends BEGIN, once. @returns when it is known to have begun: reading may run ahead of that,
   * writing may not
   */
  begin(text = BEGIN): Promise<unknown> {
    if (this.#begun === null) {
      this.#begun = this.connection.query({ text });
      this.#begun.catch(() => {}); // whoever writes waits for it
    }
    return this.#begun;
  }

  /**
   * Sends COMMIT at once, behind whatever was sent. Nothing may follow.
   * @throws Error when a statement before had failed: nothing of the transaction is kept then
   */
  async commit(): Promise<void> {
    this.#isOver = true;
    const { command } = await this.connection.query({ text: 'COMMIT' }).catch((error: Error) => {
      this.#lost = error;
      throw error;
    });
    if (command !== 'COMMIT') throw new Error('the transaction could not be committed');
  }

  /** Rolls back what was not committed and gives the connection back, once. */
  async end(): Promise<void> {
    if (this.isBegun && !this.#isOver)
      await this.connection
        .query({ text: 'ROLLBACK' })
        .catch((error: Error) => (this.#lost = error));
    this.connection.release(this.#lost);
  }
}

/** The number of the transaction that a connection is in. */
export async function readXid(connection: Connection): Promise<string> {
  const { rows } = await connection.query({
    text: 'SELECT pg_current_xact_id()::text AS xid',
    name: 'cs_xid',
  });
  return String(rows[0]!.xid);
}

/**
 * Runs statements in one transaction: all of them hold, or, when it throws, none. @param begin how
 * it begins
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
