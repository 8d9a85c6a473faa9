import type { Document, IndexDefinition, Query, Scalar } from '../store.ts';
import type { SortedTree } from './sortedTree.ts';
import { compareStrings, sortedTree } from './sortedTree.ts';

type Row = Document & Readonly<Record<string, unknown>>;
type Position = Query<Document>['after'];

/**
 * Documents that agree in some fields, in order. The trees hold the documents themselves as keys:
 * a position to continue from is then just a document with that value and id.
 */
export class Index {
  readonly on: readonly string[];
  readonly orderBy: string;
  readonly unique: boolean;
  /** Most groups of a unique index hold one document: those do without a tree. */
  private readonly groups = new Map<string, Document | SortedTree<Document>>();
  private readonly compare: (a: Document, b: Document) => number;

  constructor(definition: IndexDefinition<Document>) {
    this.on = definition.on;
    this.orderBy = definition.orderBy ?? 'id';
    this.unique = definition.unique ?? false;
    this.compare = comparing(this.orderBy);
  }

  /** Whether some other document has the same value where only one may. */
  refuses(document: Document): boolean {
    if (!this.unique) return false;
    const row = document as Row;
    if (this.on.some((field) => (row[field] ?? null) === null)) return false;
    const group = this.groups.get(keyOf(row, this.on));
    return group !== undefined && (isTree(group) || group.id !== document.id);
  }

  add(document: Document): void {
    const key = keyOf(document as Row, this.on);
    const group = this.groups.get(key);
    if (group === undefined) this.groups.set(key, document);
    else if (isTree(group)) group.set(document, undefined);
    else {
      const tree = sortedTree(this.compare);
      tree.set(group, undefined);
      tree.set(document, undefined);
      this.groups.set(key, tree);
    }
  }

  remove(document: Document): void {
    const key = keyOf(document as Row, this.on);
    const group = this.groups.get(key);
    if (group === undefined) return;
    if (!isTree(group)) this.groups.delete(key);
    else {
      group.delete(document);
      if (group.size === 1) this.groups.set(key, group.minKey()!);
    }
  }

  /** As remove and add; in place, which is most of the time, when the position stays the same. */
  replace(before: Document, after: Document): void {
    const key = keyOf(after as Row, this.on);
    if (key !== keyOf(before as Row, this.on) || this.compare(before, after) !== 0) {
      this.remove(before);
      this.add(after);
      return;
    }
    const group = this.groups.get(key);
    if (group !== undefined && isTree(group)) group.set(after, undefined);
    else this.groups.set(key, after);
  }

  /** Whether this index can answer: its order is asked for and all its fields are given. */
  fits(orderBy: string, where: object): boolean {
    return this.orderBy === orderBy && this.on.every((field) => field in where);
  }

  /** The documents whose `on` fields are as in `where`, in order, behind `after`. */
  *walk(where: object, direction: 'asc' | 'desc', after: Position): Generator<Document> {
    const group = this.groups.get(keyOf(where as Row, this.on));
    if (group === undefined) return;
    const start = after === undefined ? undefined : this.startAt(after, direction);
    if (!isTree(group)) {
      const order = start === undefined ? 0 : this.compare(group, start);
      if (start === undefined || (direction === 'asc' ? order > 0 : order < 0)) yield group;
    } else if (direction === 'asc') {
      for (const document of group.keys(start)) {
        if (start === undefined || this.compare(document, start) > 0) yield document;
      }
    } else {
      for (const [document] of group.entriesReversed(start, undefined, true)) yield document;
    }
  }

  /** Without an id the position lies behind all documents of that value: no id is above undefined or below ''. */
  private startAt({ value, id }: NonNullable<Position>, direction: 'asc' | 'desc'): Document {
    if (this.orderBy === 'id') return { id: String(value) };
    return { [this.orderBy]: value, id: id ?? (direction === 'asc' ? undefined : '') } as unknown as Document;
  }
}

const isTree = (group: Document | SortedTree<Document>): group is SortedTree<Document> => 'minKey' in group && typeof group.minKey === 'function';

const comparing = (orderBy: string) =>
  orderBy === 'id'
    ? (a: Document, b: Document) => compareStrings(a.id, b.id)
    : (a: Document, b: Document) => compareScalars((a as Row)[orderBy], (b as Row)[orderBy]) || compareIds(a.id, b.id);

const compareIds = (a: string | undefined, b: string | undefined): number => {
  if (a === b) return 0;
  if (a === undefined) return 1;
  return b === undefined || a < b ? -1 : 1;
};

/** Values of one type by their own order; a missing one is null and comes first. */
const compareScalars = (a: unknown, b: unknown): number => {
  if (a === b) return 0;
  if (typeof a === typeof b && a !== null && b !== null) return (a as string) < (b as string) ? -1 : 1;
  return rankOfType(a) - rankOfType(b);
};

const rankOfType = (value: unknown): number =>
  (value ?? null) === null ? 0 : ['boolean', 'number', 'string'].indexOf(typeof value) + 1;

const keyOf = (row: Row, fields: readonly string[]): string => {
  let key = '';
  for (const field of fields) key += encode(row[field] as Scalar | undefined);
  return key;
};

/** Different values never encode alike, also when several are joined: a string says its length. */
const encode = (value: Scalar | undefined): string => {
  if (typeof value === 'string') return `${value.length}:${value}`;
  if (typeof value === 'number') return `#${value};`;
  if (typeof value === 'boolean') return value ? 't' : 'f';
  return '~';
};
