import { setTimeout as sleep } from 'node:timers/promises';
import { runOn, type Database } from './database.ts';
import { unavailable } from './errors.ts';
import { quoted, toText } from './sql.ts';

/** How long it is asked what became of a commit. */
const DOUBT_MS = 10_000;
const AGAIN_MS = 100;
/** A row shows only these bits of its transaction's number. */
const ROW_BITS = 32;
/** The number of a transaction that the server has never given, or took back in a crash. */
const NEVER_GIVEN = '22023';

/** What tells a commit whose answer was lost with its connection. */
export interface CommitMarks {
  readonly xid: string;
  /**
   * Of the unlogged tables, as last known before the commit: a crash of the server ends it. Left
   * out: whether there was one is not looked at.
   */
  readonly life?: string | null;
  /** A document that it wrote; null: none. */
  readonly written: { readonly table: string; readonly id: string } | null;
}

/** The connection was lost in a commit. */
export class LostCommit<T> extends Error {
  override readonly name = 'LostCommit';
  readonly marks: CommitMarks;
  /** What the transaction came to, if it holds. */
  readonly result: T;

  constructor(marks: CommitMarks, result: T, cause: unknown) {
    super('the connection was lost in a commit', { cause });
    this.marks = marks;
    this.result = result;
  }
}

/**
 * Asks the server what became of a commit. The lost connection must have been given back: all of a
 * pool may be in doubt at once.
 *
 * A server that has crashed may give the numbers again that its log did not hold yet: after a crash
 * the word of the number alone is not taken, only that of a row that carries it.
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
    'the connection was lost in a commit, and the database does not say whether it holds; look before doing it again',
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
