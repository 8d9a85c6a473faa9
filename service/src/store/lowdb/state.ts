import type { Schema } from '../store.ts';
import { Table, type Rows } from './table.ts';

/** What lowdb holds: a map of documents by id for each collection, the jobs among them. */
export type Data = Record<string, Rows>;

export const JOBS = 'jobs';

const NO_INDEXES = { indexes: [] };

/** Indexing the words of this many documents takes a few milliseconds; nothing else runs then. */
const DOCUMENTS_AT_ONCE = 200;

/** Everything in memory. Replaced as a whole when it has to be read again from the disk. */
export class State {
  private readonly tables = new Map<string, Table>();
  private readonly data: Data;

  constructor(schema: Schema, data: Data) {
    if (JOBS in schema) throw new Error(`The collection name "${JOBS}" is taken by the work queue`);
    this.data = data;
    // Also keeps collections that the schema no longer names: an older version may come back.
    for (const name of new Set([...Object.keys(schema), JOBS, ...Object.keys(data)])) {
      const rows = (data[name] ??= new Map());
      const table = new Table(name, rows, schema[name] ?? NO_INDEXES);
      // Only the first documents now; `indexWords` does the rest in the background.
      table.indexWords(DOCUMENTS_AT_ONCE);
      this.tables.set(name, table);
    }
  }

  /** Indexes the words of some more documents. @returns whether all documents are done */
  indexWords(): boolean {
    for (const table of this.tables.values())
      if (!table.indexWords(DOCUMENTS_AT_ONCE)) return false;
    return true;
  }

  table(name: string): Table {
    return this.tables.get(name)!;
  }

  /** The collection's table, which is created when neither schema nor data has it. */
  makeTable(name: string): Table {
    let table = this.tables.get(name);
    if (table === undefined) {
      table = new Table(name, (this.data[name] ??= new Map()), NO_INDEXES);
      this.tables.set(name, table);
    }
    return table;
  }

  all(): IterableIterator<Table> {
    return this.tables.values();
  }

  get jobs(): Table {
    return this.table(JOBS);
  }
}
