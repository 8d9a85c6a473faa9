import { compareText } from '../../platform/compareText.ts';
import type { Document, IndexDefinition, Query } from '../store.ts';
import { ByFields, type Row } from './byFields.ts';
import { isSortedTree, sortedTree, type SortedTree } from './sortedTree.ts';

type Position = Query<Document>['after'];

/**
 * A document in an index. An index ordered by id holds ids, and needs no change when a document is
 * replaced. An index ordered by another field holds documents; to start at a position, it compares
 * them with an object that has only this field and an id.
 */
type Entry = string | Document;

/** Groups of documents with equal fields, each in order. */
export class Index {
  readonly on: readonly string[];
  readonly orderBy: string;
  readonly unique: boolean;
  private readonly isById: boolean;
  /** A group of one document, as in most unique indexes, needs no tree. */
  private readonly groups: ByFields<Entry | SortedTree<Entry>>;
  private readonly compare: (a: Entry, b: Entry) => number;
  private readonly get: (id: string) => Document | undefined;

  /** @param get returns the current document; called while walking only */
  constructor(definition: IndexDefinition<Document>, get: (id: string) => Document | undefined) {
    this.on = definition.on;
    this.groups = new ByFields(definition.on);
    this.orderBy = definition.orderBy ?? 'id';
    this.unique = definition.unique ?? false;
    this.isById = this.orderBy === 'id';
    this.compare = (this.isById ? compareText : comparing(this.orderBy)) as (
      a: Entry,
      b: Entry,
    ) => number;
    this.get = get;
  }

  /** Whether another document has the same unique value. @param before the earlier version */
  refuses(document: Document, before: Document | undefined): boolean {
    if (!this.unique || (before !== undefined && this.areInOneGroup(before, document)))
      return false;
    const row = document as Row;
    if (this.on.some((field) => (row[field] ?? null) === null)) return false;
    const group = this.groups.get(row);
    return group !== undefined && (isSortedTree(group) || idOf(group) !== document.id);
  }

  add(document: Document): void {
    const row = document as Row;
    const entry = this.entryOf(document);
    const group = this.groups.get(row);
    if (group === undefined) this.groups.set(row, entry);
    else if (isSortedTree(group)) group.set(entry, undefined);
    else {
      const tree = sortedTree(this.compare);
      tree.set(group, undefined);
      tree.set(entry, undefined);
      this.groups.set(row, tree);
    }
  }

  remove(document: Document): void {
    const row = document as Row;
    const group = this.groups.get(row);
    if (group === undefined) return;
    if (!isSortedTree(group)) this.groups.delete(row);
    else {
      group.delete(this.entryOf(document));
      if (group.size === 1) this.groups.set(row, group.minKey()!);
    }
  }

  /** Like remove and add. Often there is nothing to do, because group and position are the same. */
  replace(before: Document, after: Document): void {
    if (!this.areInOneGroup(before, after)) {
      this.remove(before);
      this.add(after);
    } else if (!this.isById) {
      const row = after as Row;
      const group = this.groups.get(row);
      if (group === undefined || !isSortedTree(group)) this.groups.set(row, after);
      else {
        if (this.compare(before, after) !== 0) group.delete(before);
        group.set(after, undefined);
      }
    }
  }

  /** How many documents have the values of `where` in the `on` fields. */
  countOf(where: object): number {
    const group = this.groups.get(where as Row);
    if (group === undefined) return 0;
    return isSortedTree(group) ? group.size : 1;
  }

  /** The documents that have the values of `where` in the `on` fields, in order. */
  walk(where: object, direction: 'asc' | 'desc', after: Position): Iterable<Document> {
    const group = this.groups.get(where as Row);
    if (group === undefined) return [];
    const start = after === undefined ? undefined : this.startAt(after, direction);
    if (isSortedTree(group)) return this.walkTree(group, direction, start);
    const order = start === undefined ? 0 : this.compare(group, start);
    return start === undefined || (direction === 'asc' ? order > 0 : order < 0)
      ? [this.documentOf(group)]
      : [];
  }

  private *walkTree(
    tree: SortedTree<Entry>,
    direction: 'asc' | 'desc',
    start: Entry | undefined,
  ): Generator<Document> {
    if (direction === 'asc') {
      for (const entry of tree.keys(start)) {
        if (start === undefined || this.compare(entry, start) > 0) yield this.documentOf(entry);
      }
    } else {
      for (const [entry] of tree.entriesReversed(start, undefined, true))
        yield this.documentOf(entry);
    }
  }

  /** Without an id, the position is after all documents of that value. */
  private startAt({ value, id }: NonNullable<Position>, direction: 'asc' | 'desc'): Entry {
    if (this.isById) return String(value);
    return {
      [this.orderBy]: value,
      id: id ?? (direction === 'asc' ? undefined : ''),
    } as unknown as Document;
  }

  private entryOf(document: Document): Entry {
    return this.isById ? document.id : document;
  }

  private documentOf(entry: Entry): Document {
    return typeof entry === 'string' ? this.get(entry)! : entry;
  }

  /** Whether two versions of a document are in the same group. */
  private areInOneGroup(before: Document, after: Document): boolean {
    for (const field of this.on)
      if (((before as Row)[field] ?? null) !== ((after as Row)[field] ?? null)) return false;
    return true;
  }
}

const idOf = (entry: Entry): string => (typeof entry === 'string' ? entry : entry.id);

const comparing = (orderBy: string) => (a: Document, b: Document) =>
  compareScalars((a as Row)[orderBy], (b as Row)[orderBy]) || compareIds(a.id, b.id);

const compareIds = (a: string | undefined, b: string | undefined): number => {
  if (a === b) return 0;
  if (a === undefined) return 1;
  return b === undefined || a < b ? -1 : 1;
};

/** The values of a field have one type. Null, or a missing value, comes first. */
const compareScalars = (a: unknown, b: unknown): number => {
  const left = (a ?? null) as string | null;
  const right = (b ?? null) as string | null;
  if (left === right) return 0;
  if (left === null || right === null) return left === null ? -1 : 1;
  return left < right ? -1 : 1;
};
