import type { AnyQuery } from '../anyQuery.ts';
import { toJson } from '../document.ts';
import type { Collection, Document, Job, Query, Schema, TransactionJobs } from '../store.ts';
import { transactionMaker } from '../transactionMaker.ts';
import type { JobClock } from './jobClock.ts';
import type { State } from './state.ts';
import type { LastWrite, Table } from './table.ts';

/** What one transaction did to one document. */
export interface Write {
  readonly table: Table;
  readonly id: string;
  /** As it was before the transaction. */
  readonly before: Document | undefined;
  after: Document | undefined;
  /** The operation for the journal, as JSON. */
  json: string;
  /** Of a job that was put: from when on it can be claimed, in steady milliseconds. */
  dueAt?: number;
}

/**
 * One transaction: writes go straight to memory, and what was there before is kept for rolling
 * back.
 */
export class UnitOfWork {
  readonly state: State;
  readonly time: JobClock;
  private readonly log = new Map<string, Write>();
  /** The newest write of those tables that this transaction has looked at. */
  private seen: LastWrite | null = null;
  private ended = false;

  constructor(state: State, time: JobClock) {
    this.state = state;
    this.time = time;
  }

  /** One for each document that has changed. */
  get writes(): Write[] {
    return [...this.log.values()].filter(
      ({ before, after }) => before !== undefined || after !== undefined,
    );
  }

  /**
   * When all that was read is durable; null: it is. A table counts as a whole, since a search also
   * reads what is not there.
   */
  get readsDurable(): Promise<void> | null {
    return this.seen?.durable ?? null;
  }

  /** The document as the last committed transaction left it. */
  committed(table: Table, id: string): Document | undefined {
    const write = this.log.get(keyOf(table, id));
    return write === undefined ? table.get(id) : write.before;
  }

  end(): void {
    this.ended = true;
  }

  rollBack(): void {
    for (const { table, id, before } of this.log.values()) table.restore(id, before);
    this.log.clear();
  }

  read(table: Table, id: string): Document | undefined {
    this.lookAt(table);
    return table.get(id);
  }

  find(table: Table, query: AnyQuery): readonly Document[] {
    this.lookAt(table);
    return table.find(query);
  }

  put(table: Table, document: Document, dueAt?: number): void {
    this.lookAt(table);
    const json = toJson(table.name, document);
    const before = table.get(document.id);
    table.put(document);
    this.note({
      table,
      id: document.id,
      before,
      after: document,
      json: `["put",${JSON.stringify(table.name)},${json}]`,
      dueAt,
    });
  }

  remove(table: Table, id: string): boolean {
    this.lookAt(table);
    const before = table.get(id);
    if (before === undefined) return false;
    table.restore(id, undefined);
    this.note({
      table,
      id,
      before,
      after: undefined,
      json: JSON.stringify(['delete', table.name, id]),
    });
    return true;
  }

  private note(write: Write): void {
    const key = keyOf(write.table, write.id);
    const earlier = this.log.get(key);
    if (earlier === undefined) this.log.set(key, write);
    else Object.assign(earlier, { after: write.after, json: write.json, dueAt: write.dueAt });
  }

  private lookAt(table: Table): void {
    if (this.ended)
      throw new Error('The transaction has ended; await everything inside its function');
    const { lastWrite } = table;
    if (lastWrite !== null && (this.seen === null || lastWrite.order > this.seen.order))
      this.seen = lastWrite;
  }
}

const keyOf = (table: Table, id: string) => `${table.name} ${id}`;

class UnitOfWorkCollection implements Collection<Document> {
  private readonly session: UnitOfWork;
  private readonly table: Table;

  constructor(session: UnitOfWork, table: Table) {
    this.session = session;
    this.table = table;
  }

  async get(id: string): Promise<Document | null> {
    return this.session.read(this.table, id) ?? null;
  }

  /** Nobody else writes while a transaction runs: nothing has to be locked. */
  peek(id: string): Promise<Document | null> {
    return this.get(id);
  }

  async find(query: Query<Document>): Promise<readonly Document[]> {
    return this.session.find(this.table, query as AnyQuery);
  }

  async put(document: Document): Promise<void> {
    this.session.put(this.table, document);
  }

  async delete(id: string): Promise<boolean> {
    return this.session.remove(this.table, id);
  }
}

class UnitOfWorkJobs implements TransactionJobs {
  private readonly session: UnitOfWork;
  private readonly table: Table;

  constructor(session: UnitOfWork) {
    this.session = session;
    this.table = session.state.jobs;
  }

  async enqueue(job: Job): Promise<void> {
    if (!Number.isFinite(job.runAt) || !Number.isFinite(job.rank))
      throw new TypeError(`job ${job.id}: runAt and rank must be numbers`);
    const { stored, dueAt } = this.session.time.enqueue(job);
    this.session.put(this.table, stored, dueAt);
  }

  async complete(id: string): Promise<void> {
    this.session.remove(this.table, id);
  }

  async release(id: string, { runAt, rank }: { runAt: number; rank: number }): Promise<void> {
    const job = this.session.read(this.table, id) as Job | undefined;
    if (job !== undefined) await this.enqueue({ ...job, runAt, rank });
  }
}

/** Makes the `tx` objects of a schema. */
export const transactionsOf = <S extends Schema>(schema: S) =>
  transactionMaker<S, UnitOfWork>(
    schema,
    (session, name) => new UnitOfWorkCollection(session, session.state.table(name)),
    (session) => new UnitOfWorkJobs(session),
  );
