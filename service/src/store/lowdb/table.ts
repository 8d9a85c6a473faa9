import { compareText } from '../../platform/compareText.ts';
import { indexesFor, noWords, type AnyQuery } from '../unitOfWork.ts';
import type { CollectionDefinition, Document, WordSearch } from '../store.ts';
import { UniqueViolation } from '../store.ts';
import { Index } from './indexes.ts';
import { WordIndex } from './wordIndex.ts';

/** The documents of one collection in lowdb's data, by id. */
export type Rows = Map<string, Document>;

/** A committed transaction that is, or will be, durable. */
export interface LastWrite {
  /** Numbers the transactions that wrote; they become durable in this order. */
  readonly order: number;
  readonly durable: Promise<void>;
}

/** The words of documents that were read from disk are still being indexed. */
export class WordsNotReady extends Error {
  override readonly name = 'WordsNotReady';
}

/** One collection in memory: its rows in lowdb's data, and the indexes over them. */
export class Table {
  readonly name: string;
  /** Null when nothing was written since everything was read from disk. */
  lastWrite: LastWrite | null = null;
  private readonly rows: Rows;
  /** The indexes of the schema, which queries can use. */
  private readonly declared: readonly Index[];
  /** All rows, in the order of their ids. */
  private readonly byId: Index;
  private readonly indexes: readonly Index[];
  private readonly words: WordIndex | null;
  /** The words of the documents up to this id are indexed; null: of all documents. */
  private wordsUpTo: string | null = '';

  constructor(
    name: string,
    rows: Rows,
    { indexes, words }: Pick<CollectionDefinition<Document>, 'indexes' | 'words'>,
  ) {
    this.name = name;
    this.rows = rows;
    const get = (id: string) => rows.get(id);
    this.declared = indexes.map((definition) => new Index(definition, get));
    const declaredById = this.declared.find(
      ({ on, orderBy }) => on.length === 0 && orderBy === 'id',
    );
    this.byId = declaredById ?? new Index({ on: [] }, get);
    this.indexes = declaredById === undefined ? [this.byId, ...this.declared] : this.declared;
    this.words = words === undefined ? null : new WordIndex(words, (id) => rows.get(id)!);
    if (words === undefined) this.wordsUpTo = null;
    for (const index of this.indexes) for (const document of rows.values()) index.add(document);
  }

  get(id: string): Document | undefined {
    return this.rows.get(id);
  }

  /** All documents, in no particular order. */
  documents(): Iterable<Document> {
    return this.rows.values();
  }

  /** All documents, in the order of their ids. */
  everything(): Iterable<Document> {
    return this.byId.walk({}, 'asc', undefined);
  }

  /** @throws UniqueViolation before anything has changed */
  put(document: Document): void {
    const before = this.rows.get(document.id);
    for (const index of this.declared)
      if (index.refuses(document, before)) throw new UniqueViolation(this.name, index.on);
    this.setUnchecked(document.id, document);
  }

  /** Sets the document (undefined: removes it) without checking the unique indexes. */
  setUnchecked(id: string, document: Document | undefined): void {
    const before = this.rows.get(id);
    if (document === undefined) {
      if (before !== undefined) this.unindex(before);
      this.rows.delete(id);
      return;
    }
    this.rows.set(id, document);
    if (before === undefined) this.index(document);
    else this.reindex(before, document);
  }

  find(query: AnyQuery): readonly Document[] {
    const { where, direction = 'asc', after, limit } = query;
    const index = indexesFor(this.name, this.declared, query).reduce((best, each) =>
      each.countOf(where) < best.countOf(where) ? each : best,
    );
    const rest = Object.keys(where).filter((field) => !index.on.includes(field));
    const found: Document[] = [];
    if (limit <= 0) return found;
    for (const document of index.walk(where, direction, after)) {
      if (rest.length > 0 && !agrees(document, where, rest)) continue;
      found.push(document);
      if (found.length >= limit) break;
    }
    return found;
  }

  /** @throws WordsNotReady */
  search(query: WordSearch): readonly Document[] {
    if (this.words === null) throw noWords(this.name);
    if (this.wordsUpTo !== null) throw new WordsNotReady();
    return this.words
      .find(query)
      .take(query.limit)
      .map((id) => this.rows.get(id)!)
      .toArray();
  }

  /**
   * Indexes the words of up to `count` documents that were read from disk.
   * @returns whether those of all documents are indexed now
   */
  indexWords(count: number): boolean {
    if (this.words === null || this.wordsUpTo === null) return true;
    let left = count;
    for (const document of this.byId.walk({}, 'asc', { value: this.wordsUpTo })) {
      if (left === 0) return false;
      this.words.add(document);
      this.wordsUpTo = document.id;
      left -= 1;
    }
    this.wordsUpTo = null;
    return true;
  }

  /** The highest id; undefined when there is no document. */
  get lastId(): string | undefined {
    for (const { id } of this.byId.walk({}, 'desc', undefined)) return id;
    return undefined;
  }

  /** Up to `count` documents by id, after `after` and up to `last`. */
  slice(after: string | undefined, last: string, count: number): readonly Document[] {
    const slice: Document[] = [];
    const from = after === undefined ? undefined : { value: after };
    for (const document of this.byId.walk({}, 'asc', from)) {
      if (compareText(document.id, last) > 0) break;
      slice.push(document);
      if (slice.length >= count) break;
    }
    return slice;
  }

  private index(document: Document): void {
    for (const index of this.indexes) index.add(document);
    if (this.hasIndexedWords(document.id)) this.words?.add(document);
  }

  private reindex(before: Document, after: Document): void {
    for (const index of this.indexes) index.replace(before, after);
    if (this.hasIndexedWords(after.id)) this.words?.replace(before, after);
  }

  private unindex(document: Document): void {
    for (const index of this.indexes) index.remove(document);
    if (this.hasIndexedWords(document.id)) this.words?.remove(document);
  }

  private hasIndexedWords(id: string): boolean {
    return this.wordsUpTo === null || compareText(id, this.wordsUpTo) <= 0;
  }
}

const agrees = (document: Document, where: AnyQuery['where'], fields: readonly string[]): boolean =>
  fields.every(
    (field) => ((document as unknown as Record<string, unknown>)[field] ?? null) === where[field],
  );
