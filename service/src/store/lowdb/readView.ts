import { compareText } from '../../platform/compareText.ts';
import { plainJob } from '../document.ts';
import type { Document, DumpedRecord } from '../store.ts';
import type { StoredJob } from './jobs/jobClock.ts';
import type { Write } from './unitOfWork.ts';
import { sortedTree, type SortedTree } from './sortedTree.ts';
import { JOBS, type State } from './state.ts';
import type { Table } from './table.ts';

/** How many documents are read at once, which takes about a millisecond. */
const SLICE_DOCUMENTS = 200;

/**
 * Everything in memory as of one moment, read in slices while transactions go on. Documents are
 * never changed in place, so the view keeps only those that were replaced or removed before they
 * were read.
 */
export class ReadView {
  readonly state: State;
  private readonly byTable: ReadonlyMap<Table, TableView>;

  /** Call it between two transactions. */
  constructor(state: State) {
    this.state = state;
    const inOrder = [...state.all()].sort(
      (a, b) => Number(a.name === JOBS) - Number(b.name === JOBS) || compareText(a.name, b.name),
    );
    this.byTable = new Map(inOrder.map((table) => [table, new TableView(table)]));
  }

  get tables(): Iterable<TableView> {
    return this.byTable.values();
  }

  /** Call it with the writes of every later transaction that commits. */
  note(writes: readonly Write[]): void {
    for (const { table, id, before } of writes) this.byTable.get(table)?.note(id, before);
  }
}

/** One collection of the view, read by id. */
export class TableView {
  readonly name: string;
  private readonly table: Table;
  /** The highest id; documents after it are newer than the view. */
  private readonly last: string | undefined;
  /** Everything up to this id was read. */
  private after: string | undefined;
  private isRead = false;
  /** Documents as they were before a change; undefined for a document that did not exist. */
  private readonly former = new Map<string, Document | undefined>();
  private readonly formerIds: SortedTree<string> = sortedTree(compareText);

  constructor(table: Table) {
    this.name = table.name;
    this.table = table;
    this.last = table.lastId;
  }

  note(id: string, before: Document | undefined): void {
    if (this.isRead || this.last === undefined || compareText(id, this.last) > 0) return;
    if (this.after !== undefined && compareText(id, this.after) <= 0) return;
    if (this.former.has(id)) return;
    this.former.set(id, before);
    this.formerIds.set(id, undefined);
  }

  /** The next documents by id; null at the end. Call it between two transactions. */
  slice(): readonly Document[] | null {
    if (this.isRead || this.last === undefined) return null;
    const present = this.table.slice(this.after, this.last, SLICE_DOCUMENTS);
    this.isRead = present.length < SLICE_DOCUMENTS;
    const end = this.isRead ? this.last : present.at(-1)!.id;
    const unchanged = present.filter(({ id }) => !this.former.has(id));
    const slice = [...unchanged, ...this.takeFormer(end)].sort((a, b) => compareText(a.id, b.id));
    this.after = end;
    return slice;
  }

  private takeFormer(end: string): readonly Document[] {
    const taken: Document[] = [];
    const first = () => this.formerIds.minKey();
    for (let id = first(); id !== undefined && compareText(id, end) <= 0; id = first()) {
      const document = this.former.get(id);
      if (document !== undefined) taken.push(document);
      this.former.delete(id);
      this.formerIds.delete(id);
    }
    return taken;
  }
}

/** @param wallMs the wall clock. Even if it was set back, a job waits no longer than at first. */
export const recordOf = (collection: string, document: Document, wallMs: number): DumpedRecord => {
  if (collection !== JOBS) return { collection, document };
  const job = document as StoredJob;
  const { runAt, waitMs } = job;
  const latest = waitMs === undefined ? runAt : Math.min(runAt, wallMs + waitMs);
  return { job: { ...plainJob(job), runAt: latest } };
};
