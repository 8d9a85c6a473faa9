import { setTimeout as sleep } from 'node:timers/promises';
import { runOn, type Database } from './database.ts';
import { unavailable } from './errors.ts';
import { quoted, toText } from './sql.ts';

/** How long to ask the server whether a commit holds. */
const DOUBT_MS = 10_000;
const AGAIN_MS = 100;
/** A row stores only these bits of its transaction's number. */
const ROW_BITS = 32;
/** The server never assigned this transaction number, or lost it in a crash. */
const NEVER_GIVEN = '22023';

/** Identifies a commit whose answer was lost with its connection. */
export interface CommitMarks {
  readonly xid: string;
  /**
   * The server's life before the commit; it changes with a crash. Left out: crashes are ignored.
   */
  readonly life?: string | null;
  /** A document that it wrote; null when there is none. */
  readonly written: { readonly table: string; readonly id: string } | null;
}

/** The connection was lost during COMMIT. */
export class LostCommit<T> extends Error {
  override readonly name = 'LostCommit';
  readonly marks: CommitMarks;
  /** The transaction's result, if the commit holds. */
  readonly result: T;

  constructor(marks: CommitMarks, result: T, cause: unknown) {
    super('the connection was lost during a commit', { cause });
    this.marks = marks;
    this.result = result;
  }
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
      if ((error as { code?: string }).code === NEVER_GIVEN) return false;
      cause = error;
    }
    await sleep(AGAIN_MS);
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
