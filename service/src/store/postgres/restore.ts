import { randomUUID } from 'node:crypto';
import { checkJob, toJson } from '../document.ts';
import { StoreNotEmpty, type DumpedRecord, type Job } from '../store.ts';
import type { Connection } from './connection/database.ts';
import {
  unreachableMessage,
  inWords,
  isOutage,
  isTooSlow,
  isUniqueViolation,
  tookTooLong,
  unavailable,
  uniqueViolation,
} from './connection/errors.ts';
import { insertJobs, type JobTime } from './jobs/jobWrites.ts';
import { lockOutConnections } from './schema/schemaLock.ts';
import { quoted, tableName } from './connection/sql.ts';
import { MAX_ROWS, type OpenSchema, type Row, type Table } from './schema/tables.ts';
import { transactionOnce } from './connection/transaction.ts';

const BATCH_CHARACTERS = 2 << 20;

/**
 * Restores a dump in one transaction. Writers wait for it, and so does a second import, which then
 * finds that the store is not empty.
 * @throws StoreNotEmpty, StoreUnavailable; TypeError or UniqueViolation for records that no dump
 * has; what the source throws
 */
export async function restoreAll(
  target: OpenSchema,
  records: AsyncIterable<DumpedRecord>,
): Promise<void> {
  try {
    await transactionOnce(target.database, target.schemaName, (connection) =>
      restoreOn(connection, target, markSourceErrors(records)),
    );
  } catch (error) {
    throw asPortError(error);
  }
}

async function restoreOn(
  connection: Connection,
  target: OpenSchema,
  records: AsyncIterable<DumpedRecord>,
): Promise<void> {
  const { schemaName, nowSql, exclusiveLock } = target;
  if (exclusiveLock !== null) await lockOutConnections(connection, exclusiveLock);
  // The source may be slow.
  await connection.query({
    text: 'SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0',
  });
  const { rows } = await connection.query({ text: `SELECT (${nowSql})::float8 AS now` });
  const jobs = `${quoted(schemaName)}.jobs`;
  const tables = [...target.tables.values()].map(({ name }) => name);
  await connection.query({
    text: `LOCK TABLE ${[...tables, jobs].join(', ')} IN SHARE ROW EXCLUSIVE MODE`,
  });
  await refuseUnlessEmpty(connection, target, jobs);
  const time = { wall: target.clock.now().getTime(), sql: String(rows[0]!.now) };
  const batch = new Batch(connection, target, jobs, time);

  // Readers of changes are told to read everything again, instead of each document.
  for (const name of tables)
    await connection.query({ text: `ALTER TABLE ${name} DISABLE TRIGGER changes` });
  for await (const record of records) await batch.add(record);
  await batch.flush();
  for (const name of tables)
    await connection.query({ text: `ALTER TABLE ${name} ENABLE TRIGGER changes` });
  await connection.query({
    text: `UPDATE ${tableName(schemaName, 'change_life')} SET life = $1`,
    values: [randomUUID()],
  });
  for (const name of [...tables, jobs]) await connection.query({ text: `ANALYZE ${name}` });
  await connection.query({
    text: `INSERT INTO ${tableName(schemaName, 'queues')} (name) SELECT DISTINCT queue FROM ${jobs} ON CONFLICT DO NOTHING`,
  });
}

async function refuseUnlessEmpty(
  connection: Connection,
  { tables, schemaName }: OpenSchema,
  jobs: string,
): Promise<void> {
  for (const { collection, name } of [...tables.values(), { collection: 'jobs', name: jobs }]) {
    const { rows } = await connection.query({ text: `SELECT 1 FROM ${name} LIMIT 1` });
    if (rows.length > 0)
      throw new StoreNotEmpty(
        `The schema ${schemaName} of the database is not empty: it holds ${collection}.`,
      );
  }
}

/** Inserts records in batches. */
class Batch {
  readonly #connection: Connection;
  readonly #target: OpenSchema;
  readonly #jobsTable: string;
  /** At the beginning of the import. */
  readonly #time: Pick<JobTime, 'wall' | 'sql'>;
  #table: Table | null = null;
  #rows: Row[] = [];
  #jobs: Job[] = [];
  #characters = 0;

  constructor(
    connection: Connection,
    target: OpenSchema,
    jobsTable: string,
    time: Pick<JobTime, 'wall' | 'sql'>,
  ) {
    this.#connection = connection;
    this.#target = target;
    this.#jobsTable = jobsTable;
    this.#time = time;
  }

  async add(record: DumpedRecord): Promise<void> {
    if ('job' in record) this.#jobs.push(this.#checked(record.job));
    else {
      const table = this.#target.tables.get(record.collection);
      if (table === undefined)
        throw new TypeError(`This version does not have the collection ${record.collection}`);
      if (table !== this.#table) await this.flush();
      this.#table = table;
      const json = toJson(record.collection, record.document);
      this.#rows.push({ id: record.document.id, json, document: record.document });
      this.#characters += json.length;
    }
    if (
      this.#rows.length >= MAX_ROWS ||
      this.#jobs.length >= MAX_ROWS ||
      this.#characters > BATCH_CHARACTERS
    )
      await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#rows.length > 0) await this.#connection.query(this.#table!.insert(this.#rows));
    if (this.#jobs.length > 0)
      await this.#connection.query(insertJobs(this.#jobsTable, this.#jobs, this.#time));
    this.#rows = [];
    this.#jobs = [];
    this.#characters = 0;
  }

  #checked(job: Job): Job {
    if (!this.#target.queues.has(job.queue))
      throw new TypeError(`This version does not have the queue ${job.queue} (job ${job.id})`);
    return checkJob(job);
  }
}

/** An error of the source, not of the database. */
class SourceFailed extends Error {}

async function* markSourceErrors(
  records: AsyncIterable<DumpedRecord>,
): AsyncGenerator<DumpedRecord> {
  try {
    yield* records;
  } catch (cause) {
    throw new SourceFailed('the source failed', { cause });
  }
}

function asPortError(error: unknown): unknown {
  if (error instanceof SourceFailed) return error.cause;
  if (isTooSlow(error)) return tookTooLong(error);
  if (isOutage(error)) return unavailable(unreachableMessage(inWords(error)), error);
  if (!isUniqueViolation(error)) return error;
  const { table, detail, constraint } = error as {
    table?: string;
    detail?: string;
    constraint?: string;
  };
  if (constraint?.endsWith('_pkey') !== true) return uniqueViolation(error);
  return new TypeError(
    `${table} ${/\(id\)=\((.*)\) already/s.exec(detail ?? '')?.[1] ?? 'an id'} appears twice`,
    { cause: error },
  );
}
