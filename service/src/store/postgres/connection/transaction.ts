import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, type Database, type Result, runOn } from './database.ts';
import { isOutage, unavailable } from './errors.ts';
import { quoted, toText } from './sql.ts';

const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';
/** How long, and how often, to ask the server whether a commit holds. */
const DOUBT_MS = 10_000;
const ASK_AGAIN_MS = 100;
/** A row stores only this many bits of its transaction's number, the lowest. */
const ROW_BITS = 32;
/** The error code for a transaction number that was never assigned, or was lost in a crash. */
const NEVER_ASSIGNED = '22023';

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

/**
 * Like `transactionOn`, for what must not run twice: when the answer to COMMIT is lost with its
 * connection, asks the server whether the commit holds.
 * @throws StoreUnavailable when that cannot be known
 */
export async function transactionOnce(
  database: Database,
  schema: string,
  run: (connection: Connection) => Promise<void>,
): Promise<void> {
  let xid = '';
  try {
    await transactionOn(database, async (connection) => {
      await run(connection);
      xid = await readXid(connection);
    });
  } catch (error) {
    if (xid === '' || !isOutage(error)) throw error;
    if (!(await wasCommitted(database, schema, { xid, written: null }))) throw error;
  }
}

/** Identifies a commit whose answer was lost with its connection. */
export interface CommitMarks {
  readonly xid: string;
  /** The server's life before the commit; it changes with a crash. If missing, crashes are ignored. */
  readonly life?: string | null;
  /** A document that it wrote; null when there is none. */
  readonly written: { readonly table: string; readonly id: string } | null;
}

/**
 * Asks the server whether a commit holds. The lost connection must have been released, because all
 * connections of the pool may ask at once.
 *
 * A crashed server may reuse numbers that its log did not contain. After a crash the number's
 * status counts only together with a row that carries the number.
 * @throws StoreUnavailable when the server does not say
 */
export async function wasCommitted(
  database: Database,
  schema: string,
  { xid, life, written }: CommitMarks,
): Promise<boolean> {
  const giveUpAt = performance.now() + DOUBT_MS;
  let cause: unknown;
  do {
    try {
      const { rows } = await runOn(database, {
        text: `SELECT pg_xact_status($1::xid8) AS status, (SELECT life FROM ${quoted(schema)}.change_life) AS life`,
        values: [xid],
      });
      const { status, life: lifeNow } = rows[0]!;
      if (status === 'committed' && life !== undefined && lifeNow !== life) {
        if (written !== null && (await isFrom(database, written, xid))) return true;
        break;
      }
      if (status !== 'in progress') return status === 'committed';
    } catch (error) {
      if ((error as { code?: string }).code === NEVER_ASSIGNED) return false;
      cause = error;
    }
    await sleep(ASK_AGAIN_MS);
  } while (performance.now() < giveUpAt);
  throw unavailable(
    'the connection was lost during a commit, and the database does not say whether it succeeded; check the data before trying again',
    cause,
  );
}

async function isFrom(
  database: Database,
  { table, id }: { readonly table: string; readonly id: string },
  xid: string,
): Promise<boolean> {
  const { rows } = await runOn(database, {
    text: `SELECT xmin::text AS xid FROM ${table} WHERE id = $1`,
    values: [toText(id)],
  });
  return rows[0]?.xid === String(BigInt.asUintN(ROW_BITS, BigInt(xid)));
}
