import type { Document, DumpedRecord, Job } from '../store.ts';
import type { Connection } from './connection/database.ts';
import { inWords, isOutage, unavailable } from './connection/errors.ts';
import { fromText, quoted } from './connection/sql.ts';
import type { OpenSchema } from './schema/tables.ts';
import { OpenTransaction } from './connection/transaction.ts';

/** The size of a page; pages of large documents have fewer rows. */
const PAGE_CHARACTERS = 2 << 20;
const MAX_ROWS = 2_000;
/** The first page is small, because the size of documents is not known yet. */
const FIRST_ROWS = 50;
/** How much `run_at` and `due_at` may differ: they are by the clocks of two machines. */
const TOLERANCE_MS = 1_000;

/** Yields everything as one transaction sees it. Does not hold up other transactions. */
export async function* dumpAll(source: OpenSchema): AsyncGenerator<DumpedRecord> {
  const { database } = source;
  if (database.kind === 'postgres') return yield* recordsOf(source);
  // PGlite has one connection, which must not be held while the reader is busy.
  const gathered: DumpedRecord[] = [];
  for await (const record of recordsOf(source)) gathered.push(record);
  yield* gathered;
}

async function* recordsOf({
  database,
  schemaName,
  tables,
  nowSql,
  clock,
}: OpenSchema): AsyncGenerator<DumpedRecord> {
  const transaction = new OpenTransaction(await database.connect());
  const { connection } = transaction;
  try {
    await transaction.begin('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    // The reader of the dump may be slow.
    await connection.query({
      text: 'SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0',
    });
    const { rows } = await connection.query({ text: `SELECT (${nowSql})::float8 AS now` });
    const clocks = { wall: clock.now().getTime(), database: Number(rows[0]!.now) };
    for (const collection of [...tables.keys()].sort()) {
      for await (const { json } of rowsOf(
        connection,
        tables.get(collection)!.name,
        'document::text AS json',
      ))
        yield { collection, document: JSON.parse(String(json)) as Document };
    }
    const columns =
      'queue, group_key, run_at, rank, due_at::float8 AS due_at, claimed_by, data::text AS json';
    for await (const row of rowsOf(connection, `${quoted(schemaName)}.jobs`, columns))
      yield { job: jobOf(row, clocks) };
  } catch (error) {
    throw isOutage(error)
      ? unavailable(`the connection to the database was lost: ${inWords(error)}`, error)
      : error;
  } finally {
    await transaction.end();
  }
}

type Row = Readonly<Record<string, unknown>>;

/** All rows of a table by id. @param columns one of them is `json`, which decides the page size */
async function* rowsOf(connection: Connection, name: string, columns: string): AsyncGenerator<Row> {
  let after = '';
  let limit = FIRST_ROWS;
  for (;;) {
    const { rows } = await connection.query({
      text: `SELECT id, ${columns} FROM ${name} WHERE id > $1 ORDER BY id LIMIT ${limit}`,
      values: [after],
    });
    let characters = 0;
    for (const row of rows) {
      characters += String(row.json).length;
      yield row;
    }
    if (rows.length < limit) return;
    after = String(rows.at(-1)!.id);
    limit = Math.max(1, Math.min(MAX_ROWS, Math.floor((limit * PAGE_CHARACTERS) / characters)));
  }
}

/**
 * The job. Its `due_at` is by the database's clock and is converted to this process's. Where it
 * differs from `run_at`, it counts: the process that set `run_at` may have had a wrong clock.
 */
function jobOf(row: Row, clocks: { readonly wall: number; readonly database: number }): Job {
  const runAt = Number(row.run_at);
  // While a job is claimed, due_at is the end of its lease: the job itself is due already.
  const dueAt =
    row.claimed_by === null
      ? Math.round(clocks.wall + Number(row.due_at) - clocks.database)
      : Math.min(runAt, clocks.wall);
  return {
    id: fromText(String(row.id)),
    queue: String(row.queue),
    group: fromText(String(row.group_key)),
    runAt: Math.abs(dueAt - runAt) > TOLERANCE_MS ? dueAt : runAt,
    rank: Number(row.rank),
    data: JSON.parse(String(row.json)) as Job['data'],
  };
}
