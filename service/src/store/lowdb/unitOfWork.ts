import { assertJobTime, toJson } from '../document.ts';
import type { Document, Job, TransactionJobs, WordSearch } from '../store.ts';
import { assertNotEnded, type AnyQuery, type UnitOfWork } from '../unitOfWork.ts';
import type { JobClock } from './jobs/jobClock.ts';
import { JOBS, type State } from './state.ts';
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
  /** When a job that was put can be claimed, in steady milliseconds. */
  dueAt?: number;
}

/**
 * One transaction. It writes to memory at once and keeps what was there before, so that it can be
 * rolled back. Transactions run one at a time, so nothing has to be locked.
 */
export class LowdbUnitOfWork implements UnitOfWork {
  readonly state: State;
  readonly jobs: TransactionJobs;
  private readonly writesByKey = new Map<string, Write>();
  /** The newest write to the tables that this transaction has read. */
  private seen: LastWrite | null = null;
  private ended = false;

  constructor(state: State, clock: JobClock) {
    this.state = state;
    this.jobs = {
      enqueue: (job) => this.enqueue(job, clock),
      complete: async (id) => void (await this.delete(JOBS, id)),
      release: async (id, at) => {
        const job = (await this.get(JOBS, id)) as Job | null;
        if (job !== null) await this.enqueue({ ...job, ...at }, clock);
      },
    };
  }

  async get(collection: string, id: string): Promise<Document | null> {
    return this.open(collection).get(id) ?? null;
  }

  peek(collection: string, id: string): Promise<Document | null> {
    return this.get(collection, id);
  }

  async find(collection: string, query: AnyQuery): Promise<readonly Document[]> {
    return this.open(collection).find(query);
  }

  async search(collection: string, query: WordSearch): Promise<readonly Document[]> {
    return this.open(collection).search(query);
  }

  async put(collection: string, document: Document, dueAt?: number): Promise<void> {
    const table = this.open(collection);
    const json = `["put",${JSON.stringify(collection)},${toJson(collection, document)}]`;
    const before = table.get(document.id);
    table.put(document);
    this.record({ table, id: document.id, before, after: document, json, dueAt });
  }

  async delete(collection: string, id: string): Promise<boolean> {
    const table = this.open(collection);
    const before = table.get(id);
    if (before === undefined) return false;
    table.setUnchecked(id, undefined);
    const json = JSON.stringify(['delete', collection, id]);
    this.record({ table, id, before, after: undefined, json });
    return true;
  }

  /** One write for each document that has changed. */
  get writes(): Write[] {
    return [...this.writesByKey.values()].filter(
      ({ before, after }) => before !== undefined || after !== undefined,
    );
  }

  /**
   * Resolves when everything that was read is durable; null when it already is. A read depends on
   * the whole table, because a search also depends on documents that are not there.
   */
  get readsDurable(): Promise<void> | null {
    return this.seen?.durable ?? null;
  }

  /** The document as the last committed transaction left it. */
  committedDocument(table: Table, id: string): Document | undefined {
    const write = this.writesByKey.get(keyOf(table, id));
    return write === undefined ? table.get(id) : write.before;
  }

  end(): void {
    this.ended = true;
  }

  rollBack(): void {
    for (const { table, id, before } of this.writesByKey.values()) table.setUnchecked(id, before);
    this.writesByKey.clear();
  }

  private async enqueue(job: Job, clock: JobClock): Promise<void> {
    assertJobTime(job.id, job);
    const { stored, dueAt } = clock.startWait(job);
    await this.put(JOBS, stored, dueAt);
  }

  private record(write: Write): void {
    const key = keyOf(write.table, write.id);
    const earlier = this.writesByKey.get(key);
    if (earlier === undefined) this.writesByKey.set(key, write);
    else Object.assign(earlier, { after: write.after, json: write.json, dueAt: write.dueAt });
  }

  private open(collection: string): Table {
    assertNotEnded(this.ended);
    const table = this.state.table(collection);
    const { lastWrite } = table;
    if (lastWrite !== null && (this.seen === null || lastWrite.order > this.seen.order))
      this.seen = lastWrite;
    return table;
  }
}

const keyOf = (table: Table, id: string) => `${table.name} ${id}`;
