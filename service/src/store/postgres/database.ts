import { isOutage, isUnsent } from './errors.ts';
import type { Guard } from './schemaLock.ts';

/** What the store needs of a PostgreSQL client: connections of a pool, and notifications. */

export interface Result {
  readonly rows: readonly Record<string, unknown>[];
  readonly rowCount: number | null;
  /** `COMMIT`, or `ROLLBACK` when a commit found the transaction failed. */
  readonly command: string;
}

/**
 * One statement; with a name it is prepared once for each connection. Without values it may be
 * several, separated by `;`.
 */
export interface Statement {
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly name?: string;
}

export interface Connection {
  query(statement: Statement): Promise<Result>;
  /** Back to the pool; with an error it is thrown away. To be called once. */
  release(error?: Error): void;
}

export interface Database {
  /** pg-boss takes it to choose its ways: PGlite has one connection. */
  readonly kind: 'postgres' | 'pglite';
  /** Waits for a free connection, not for ever. */
  connect(): Promise<Connection>;
  /**
   * Calls back for each notification on a channel, over a connection of its own that is opened
   * again when it is lost. As long as it is open it says that this process has the channel's schema
   * open.
   * @param onConnect called after each time it was opened: notifications may have been missed
   * before
   * @param exclusive to have the schema alone; default false
   * @returns the way to stop
   * @throws SchemaInUse, SchemaTaken
   */
  listen(
    channel: string,
    onNotification: (payload: string) => void,
    onConnect: () => void,
    exclusive?: boolean,
  ): Promise<() => Promise<void>>;
  /**
   * Statements that every connection has to have run; for tests, whose clock is a setting of the
   * session.
   */
  setSessionStatements(statements: readonly string[]): void;
  /**
   * Every connection of the pool has to pass it before it is used again, those that are open too.
   */
  setGuard(guard: Guard): void;
  close(): Promise<void>;
}

/**
 * Borrows a connection for one statement outside of any transaction.
 * @param onLost called when the connection was lost and the server may have done it all the same
 */
export async function runOn(
  database: Database,
  statement: Statement,
  onLost?: () => void,
): Promise<Result> {
  const connection = await database.connect();
  try {
    const result = await connection.query(statement);
    connection.release();
    return result;
  } catch (error) {
    if (isOutage(error) && !isUnsent(error)) onLost?.();
    // A text of several statements (pg-boss's set-up, when two processes start at once) may have
    // begun a transaction.
    if ((error as { severity?: string }).severity === 'ERROR')
      await connection.query({ text: 'ROLLBACK' }).catch(() => {});
    connection.release(error as Error);
    throw error;
  }
}
