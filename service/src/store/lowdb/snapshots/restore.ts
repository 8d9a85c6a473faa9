import { checkJob, toJson } from '../../document.ts';
import type { Document, DumpedRecord, Schema } from '../../store.ts';
import type { JobClock } from '../jobs/jobClock.ts';
import { snapshotLine } from './snapshot.ts';
import { JOBS, State, type Data } from '../state.ts';

/** Builds a store in memory from the records of a dump. */
export class Restoration {
  readonly data: Data = {};
  readonly state: State;
  /** When each job can be claimed, by its id, in steady milliseconds. */
  readonly dueAt = new Map<string, number>();
  /** The error in the records. Null when only the disk failed. */
  failure: unknown = null;
  private readonly clock: JobClock;

  constructor(schema: Schema, clock: JobClock) {
    this.state = new State(schema, this.data);
    this.clock = clock;
  }

  /**
   * Takes the records one by one and yields the line of each for the snapshot.
   * @throws TypeError, UniqueViolation, or what `records` throws; then `failure` is the same error
   */
  async *lines(records: AsyncIterable<DumpedRecord>): AsyncGenerator<string> {
    try {
      for await (const record of records) yield this.take(record);
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }

  private take(record: DumpedRecord): string {
    if ('job' in record) {
      const { stored, dueAt } = this.clock.startWait(checkJob(record.job));
      this.dueAt.set(stored.id, dueAt);
      return this.put(JOBS, stored);
    }
    if (record.collection === JOBS)
      throw new TypeError(`The collection name "${JOBS}" is taken by the work queue`);
    return this.put(record.collection, record.document);
  }

  private put(collection: string, document: Document): string {
    const json = toJson(collection, document);
    const table = this.state.makeTable(collection);
    if (table.get(document.id) !== undefined)
      throw new TypeError(`${collection} ${document.id} appears twice`);
    table.put(document);
    return snapshotLine(collection, json);
  }
}
