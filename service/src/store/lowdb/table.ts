import type { Document, IndexDefinition, Query } from '../store.ts';
import { UniqueViolation } from '../store.ts';
import { Index } from './indexes.ts';
import type { SortedTree } from './sortedTree.ts';
import { compareStrings, sortedTree } from './sortedTree.ts';

/** The documents of one collection, as they lie in lowdb's data. */
export type Rows = Record<string, Document>;

/** The query with its types erased: tables do not know their documents' fields. */
export interface AnyQuery {
  readonly where: Readonly<Record<string, unknown>>;
  readonly orderBy?: string;
  readonly direction?: 'asc' | 'desc';
  readonly after?: Query<Document>['after'];
  readonly limit: number;
}

/** One collection in memory: its rows in lowdb's data, and the indexes over them. */
export class Table {
  readonly name: string;
  private readonly rows: Rows;
  private readonly indexes: readonly Index[];
  /** Walks the rows in slices while they change; the keys of a big object can only be listed all at once. */
  private readonly byId: SortedTree<Document> = sortedTree((a, b) => compareStrings(a.id, b.id));

  constructor(name: string, rows: Rows, indexes: readonly IndexDefinition<Document>[]) {
    this.name = name;
    this.rows = rows;
    this.indexes = indexes.map((definition) => new Index(definition));
    for (const id in rows) this.index(rows[id]!);
  }

  get(id: string): Document | undefined {
    return this.rows[id];
  }

  everything(): Iterable<Document> {
    return this.byId.keys();
  }

  /** @throws UniqueViolation before anything has changed */
  put(document: Document): void {
    for (const index of this.indexes) if (index.refuses(document)) throw new UniqueViolation(this.name, index.on);
    this.restore(document.id, document);
  }

  /** Puts back what was there (undefined: nothing) without asking the unique indexes. */
  restore(id: string, document: Document | undefined): void {
    const before = this.rows[id];
    if (document === undefined) {
      if (before !== undefined) this.unindex(before);
      Reflect.deleteProperty(this.rows, id);
      return;
    }
    this.rows[id] = document;
    if (before === undefined) this.index(document);
    else this.reindex(before, document);
  }

  find(query: AnyQuery): readonly Document[] {
    const { where, orderBy = 'id', direction = 'asc', after, limit } = query;
    const index = this.indexFor(orderBy, where);
    const rest = Object.entries(where).filter(([field]) => !index.on.includes(field));
    const found: Document[] = [];
    if (limit <= 0) return found;
    for (const document of index.walk(where, direction, after)) {
      if (!agrees(document, rest)) continue;
      found.push(document);
      if (found.length >= limit) break;
    }
    return found;
  }

  /** Up to `count` documents behind the id `after`, by id. */
  slice(after: string | undefined, count: number): readonly Document[] {
    const slice: Document[] = [];
    for (const document of this.byId.keys(after === undefined ? undefined : { id: after })) {
      if (document.id === after) continue;
      slice.push(document);
      if (slice.length >= count) break;
    }
    return slice;
  }

  private indexFor(orderBy: string, where: object): Index {
    for (const [field, value] of Object.entries(where)) {
      // Passing it over would find documents of everybody when a filter is undefined by mistake.
      if (value === undefined) throw new Error(`find in ${this.name}: where.${field} is undefined; use null or leave it out`);
    }
    const fitting = this.indexes.filter((index) => index.fits(orderBy, where));
    const best = fitting.sort((a, b) => b.on.length - a.on.length)[0];
    if (best !== undefined) return best;
    const fields = JSON.stringify(Object.keys(where));
    throw new Error(`find in ${this.name}: no index fits; declare { on: ${fields} (or some of these), orderBy: '${orderBy}' }`);
  }

  private index(document: Document): void {
    this.byId.set(document, undefined);
    for (const index of this.indexes) index.add(document);
  }

  private reindex(before: Document, after: Document): void {
    this.byId.set(after, undefined);
    for (const index of this.indexes) index.replace(before, after);
  }

  private unindex(document: Document): void {
    this.byId.delete(document);
    for (const index of this.indexes) index.remove(document);
  }
}

const agrees = (document: Document, fields: readonly (readonly [string, unknown])[]): boolean =>
  fields.every(([field, value]) => ((document as unknown as Record<string, unknown>)[field] ?? null) === value);
