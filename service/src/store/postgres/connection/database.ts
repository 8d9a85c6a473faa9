import { isOutage, isUnsent } from './errors.ts';

/** The port to a PostgreSQL client: a pool of connections, and notifications. */

export interface Result {
  readonly rows: readonly Record<string, unknown>[];
  readonly rowCount: number | null;
  /** `COMMIT`, or `ROLLBACK` when the transaction had failed before COMMIT. */
  readonly command: string;
}

/**
 * A statement with a name is prepared once for each connection. A text without values may hold
 * several statements.
 */
export interface Statement {
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly name?: string;
}

export interface Connection {
  query(statement: Statement): Promise<Result>;
  /** Returns the connection to the pool, or ends it after an error. Call it once. */
  release(error?: Error): void;
}

/**
 * A check that each connection of a pool passes once before it is used. If it throws, so does
 * `connect`.
 */
export type Guard = (connection: Connection) => Promise<void>;

export interface Database {
  /** PGlite, in tests, has one connection. */
  readonly kind: 'postgres' | 'pglite';
  /** Waits for a free connection for a limited time. */
  connect(): Promise<Connection>;
  /**
   * Listens on a separate connection, which also holds the schema lock. A lost connection is opened
   * again.
   * @param onConnect called each time it is opened; notifications may have been missed before
   * @param exclusive whether to take the schema lock exclusively
   * @returns stops listening
   * @throws SchemaInUse, SchemaTaken
   */
  listen(
    channel: string,
    onNotification: (payload: string) => void,
    onConnect: () => void,
    exclusive: boolean,
  ): Promise<() => Promise<void>>;
  /**
   * Statements that each connection runs before its next use. In tests, the clock is a session
   * setting.
   */
  setSessionStatements(statements: readonly string[]): void;
  /** A check that each connection of the pool, even an open one, must pass before its next use. */
  setGuard(guard: Guard): void;
  close(): Promise<void>;
}

/**
 * Runs one statement outside of any transaction.
 * @param onLost called when the connection was lost and the server may have run the statement
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
    connection.release(error as Error);
    throw error;
  }
}

/** Runs statements that only read, in one round trip and outside of any transaction. */
export async function runAllOn(
  database: Database,
  statements: readonly Statement[],
): Promise<readonly Result[]> {
  const connection = await database.connect();
  try {
    const results = await Promise.all(statements.map((statement) => connection.query(statement)));
    connection.release();
    return results;
  } catch (error) {
    connection.release(error as Error);
    throw error;
  }
}
