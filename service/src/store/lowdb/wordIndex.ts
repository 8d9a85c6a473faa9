import { compareText } from '../../platform/compareText.ts';
import type { Document, SearchedWord, WordsDefinition, WordSearch } from '../store.ts';
import { sortedTree, type SortedTree } from './sortedTree.ts';

/** Ids in ascending order. Half of all words are in one document only, and need no list. */
type Postings = string | string[];

/** A list shorter than this grows by being copied: growing in place reserves room for 17 ids. */
const MAX_COPIED = 16;
/** Up to this many lists are searched one by one for an id. For more, other ways are faster. */
const MAX_LISTS_SEARCHED = 8;
/** Reading the words of a document takes as long as putting this many ids into a set. */
const IDS_PER_DOCUMENT_READ = 12;

/**
 * An inverted index: the ids of the documents with each word, for each value of the field that the
 * definition names as `within`.
 * @see docs/decisions/0049-search-in-what-was-said.md
 */
export class WordIndex {
  readonly #definition: WordsDefinition<Document>;
  readonly #get: (id: string) => Document;
  readonly #vocabularies = new Map<unknown, Vocabulary>();

  /** @param get returns an indexed document */
  constructor(definition: WordsDefinition<Document>, get: (id: string) => Document) {
    this.#definition = definition;
    this.#get = get;
  }

  add(document: Document): void {
    this.#vocabularyOf(document).add(document.id, this.#wordsOf(document));
  }

  remove(document: Document): void {
    this.#vocabularyOf(document).remove(document.id, this.#wordsOf(document));
  }

  replace(before: Document, after: Document): void {
    const vocabulary = this.#vocabularyOf(after);
    const [former, current] = [this.#wordsOf(before), this.#wordsOf(after)];
    const isMoved = this.#vocabularyOf(before) !== vocabulary;
    this.#vocabularyOf(before).remove(after.id, isMoved ? former : former.difference(current));
    vocabulary.add(after.id, isMoved ? current : current.difference(former));
  }

  /** The ids of the documents that a search finds, in descending order. */
  *find({ within, allOf, before }: WordSearch): Generator<string> {
    const vocabulary = this.#vocabularies.get(within);
    if (vocabulary === undefined || allOf.length === 0) return;
    const [rarest, ...others] = allOf
      .map(
        (anyOf) =>
          new Ids(vocabulary.listsOf(anyOf), (id) => hasWordOf(this.#wordsOfId(id), anyOf)),
      )
      .sort((a, b) => a.count - b.count);
    for (const id of rarest!.newestFirst(before)) if (others.every((ids) => ids.has(id))) yield id;
  }

  #vocabularyOf(document: Document): Vocabulary {
    const value = (document as unknown as Record<string, unknown>)[this.#definition.within];
    let vocabulary = this.#vocabularies.get(value);
    if (vocabulary === undefined) this.#vocabularies.set(value, (vocabulary = new Vocabulary()));
    return vocabulary;
  }

  #wordsOfId(id: string): Iterable<string> {
    return this.#definition.of(this.#get(id));
  }

  #wordsOf(document: Document): Set<string> {
    return new Set(this.#definition.of(document));
  }
}

/** The words of the documents with one value of that field. */
class Vocabulary {
  readonly #postings = new Map<string, Postings>();
  /** In order, to find words by their beginning. */
  readonly #words: SortedTree<string> = sortedTree(compareText);

  add(id: string, words: Iterable<string>): void {
    for (const word of words) {
      const postings = this.#postings.get(word);
      if (postings === undefined) this.#words.set(word, undefined);
      const changed = postings === undefined ? id : withId(postings, id);
      if (changed !== postings) this.#postings.set(word, changed);
    }
  }

  remove(id: string, words: Iterable<string>): void {
    for (const word of words) {
      const postings = this.#postings.get(word);
      if (postings === undefined) continue;
      const ids = asList(postings);
      const at = countBelow(ids, id);
      if (ids[at] !== id) continue;
      if (ids.length === 1) {
        this.#postings.delete(word);
        this.#words.delete(word);
      } else if (ids.length === 2) this.#postings.set(word, ids[1 - at]!);
      else ids.splice(at, 1);
    }
  }

  listsOf(anyOf: readonly SearchedWord[]): (readonly string[])[] {
    const words = new Set<string>();
    for (const { word, isPrefix } of anyOf) {
      words.add(word);
      if (!isPrefix) continue;
      for (const each of this.#words.keys(word)) {
        if (!each.startsWith(word)) break;
        words.add(each);
      }
    }
    return [...words].flatMap((word) => {
      const postings = this.#postings.get(word);
      return postings === undefined ? [] : [asList(postings)];
    });
  }
}

/** The ids in any of several lists. */
class Ids {
  /** An id counts once for each list that has it. */
  readonly count: number;
  readonly #lists: readonly (readonly string[])[];
  readonly #isIn: (id: string) => boolean;
  #set: ReadonlySet<string> | null = null;
  #documentsRead = 0;

  /** @param isIn whether an id is in any of the lists, found out by reading its document */
  constructor(lists: readonly (readonly string[])[], isIn: (id: string) => boolean) {
    this.#lists = lists;
    this.#isIn = isIn;
    this.count = lists.reduce((sum, { length }) => sum + length, 0);
  }

  has(id: string): boolean {
    if (this.#lists.length <= MAX_LISTS_SEARCHED)
      return this.#lists.some((ids) => ids[countBelow(ids, id)] === id);
    // Building the set pays off only after this many reads.
    if (this.#documentsRead < this.count / IDS_PER_DOCUMENT_READ) {
      this.#documentsRead += 1;
      return this.#isIn(id);
    }
    this.#set ??= new Set(this.#lists.flat());
    return this.#set.has(id);
  }

  *newestFirst(before: string | undefined): Generator<string> {
    const heads = sortedTree<Head>((a, b) => compareText(b.id, a.id) || a.list - b.list);
    const addHead = (list: number, at: number) => {
      if (at >= 0) heads.set({ list, at, id: this.#lists[list]![at]! }, undefined);
    };
    for (const [list, ids] of this.#lists.entries())
      addHead(list, (before === undefined ? ids.length : countBelow(ids, before)) - 1);
    let last: string | undefined;
    for (let head = heads.minKey(); head !== undefined; head = heads.minKey()) {
      heads.delete(head);
      addHead(head.list, head.at - 1);
      if (head.id !== last) yield head.id;
      last = head.id;
    }
  }
}

/** The highest id of a list that `newestFirst` has not returned yet. */
interface Head {
  readonly list: number;
  readonly at: number;
  readonly id: string;
}

function hasWordOf(words: Iterable<string>, anyOf: readonly SearchedWord[]): boolean {
  for (const word of words)
    if (anyOf.some((each) => (each.isPrefix ? word.startsWith(each.word) : word === each.word)))
      return true;
  return false;
}

const asList = (postings: Postings): string[] =>
  typeof postings === 'string' ? [postings] : postings;

/** Adds an id, which is usually higher than all before. */
function withId(postings: Postings, id: string): Postings {
  const ids = asList(postings);
  const at = id > ids.at(-1)! ? ids.length : countBelow(ids, id);
  if (ids[at] === id) return postings;
  if (ids.length < MAX_COPIED) return ids.toSpliced(at, 0, id);
  ids.splice(at, 0, id);
  return ids;
}

/** How many ids of a list are lower than this one, which is also its index in the list. */
function countBelow(ids: readonly string[], id: string): number {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ids[middle]! < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
