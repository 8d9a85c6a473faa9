import type { Document, DumpedRecord } from '../store.ts';
import type { StoredJob } from './jobClock.ts';
import type { Write } from './unitOfWork.ts';
import type { SortedTree } from './sortedTree.ts';
import { compareStrings, sortedTree } from './sortedTree.ts';
import type { State } from './state.ts';
import { JOBS } from './state.ts';
import type { Table } from './table.ts';

/** Documents that are taken in one go; about a millisecond. */
const SLICE_DOCUMENTS = 200;

/**
 * Everything in memory as it was at one moment, read part by part while transactions go on.
 * Documents are replaced and never changed, so that only those which a later transaction replaced
 * or removed before they were read have to be kept.
 */
export class ReadView {
  readonly state: State;
  private readonly byTable: ReadonlyMap<Table, TableView>;

  /** Between two transactions. */
  constructor(state: State) {
    this.state = state;
    const inOrder = [...state.all()].sort(
      (a, b) => Number(a.name === JOBS) - Number(b.name === JOBS) || compareStrings(a.name, b.name),
    );
    this.byTable = new Map(inOrder.map((table) => [table, new TableView(table)]));
  }

  get tables(): Iterable<TableView> {
    return this.byTable.values();
  }

  /** To be told of every transaction that commits from then on. */
  note(writes: readonly Write[]): void {
    for (const { table, id, before } of writes) this.byTable.get(table)?.note(id, before);
  }
}

/** One collection as it was at that moment, read by id. */
export class TableView {
  readonly name: string;
  private readonly table: Table;
  /** Behind it lies only what came later. */
  private readonly last: string | undefined;
  /** Everything up to here was read. */
  private after: string | undefined;
  private isRead = false;
  /**
   * What was there where something else is now, or (undefined) nothing; by id, and the ids in their
   * order.
   */
  private readonly former = new Map<string, Document | undefined>();
  private readonly formerIds: SortedTree<string> = sortedTree(compareStrings);

  constructor(table: Table) {
    this.name = table.name;
    this.table = table;
    this.last = table.lastId;
  }

  note(id: string, before: Document | undefined): void {
    if (this.isRead || this.last === undefined || compareStrings(id, this.last) > 0) return;
    if (this.after !== undefined && compareStrings(id, this.after) <= 0) return;
    if (this.former.has(id)) return;
    this.former.set(id, before);
    this.formerIds.set(id, undefined);
  }

  /** The next documents by id, between two transactions; null: that was all. */
  slice(): readonly Document[] | null {
    if (this.isRead || this.last === undefined) return null;
    const present = this.table.slice(this.after, this.last, SLICE_DOCUMENTS);
    this.isRead = present.length < SLICE_DOCUMENTS;
    const end = this.isRead ? this.last : present.at(-1)!.id;
    const unchanged = present.filter(({ id }) => !this.former.has(id));
    const slice = [...unchanged, ...this.takeFormer(end)].sort((a, b) =>
      compareStrings(a.id, b.id),
    );
    this.after = end;
    return slice;
  }

  private takeFormer(end: string): readonly Document[] {
    const taken: Document[] = [];
    for (
      let id = this.formerIds.minKey();
      id !== undefined && compareStrings(id, end) <= 0;
      id = this.formerIds.minKey()
    ) {
      const document = this.former.get(id);
      if (document !== undefined) taken.push(document);
      this.former.delete(id);
      this.formerIds.delete(id);
    }
    return taken;
  }
}

/** @param wallMs now: a job waits no longer than it had to at first, as after a start */
export const dumped = (collection: string, document: Document, wallMs: number): DumpedRecord => {
  if (collection !== JOBS) return { collection, document };
  const { id, queue, group, runAt, waitMs, rank, data } = document as StoredJob;
  return {
    job: {
      id,
      queue,
      group,
      runAt: waitMs === undefined ? runAt : Math.min(runAt, wallMs + waitMs),
      rank,
      data,
    },
  };
};
