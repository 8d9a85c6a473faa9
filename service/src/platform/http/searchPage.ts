import type { Document } from '../../store/store.ts';
import { MAX_PAGE_CHARACTERS, type From } from './page.ts';

/** A document's place in a list. */
export interface Position {
  readonly value: string;
  readonly id: string;
}

export interface Search<Doc> {
  /** Reads documents in the order of the list. */
  find(query: { limit: number } & From): Promise<readonly Doc[]>;
  positionOf(document: Doc): Position;
  /** Picks the documents that match the search. Left out: all of them do. */
  matching?(documents: readonly Doc[]): Promise<readonly Doc[]>;
  /** Whether the search ends before this document. */
  isPast?(document: Doc): boolean;
}

export interface SearchedPage<Doc> {
  readonly items: readonly Doc[];
  /** Where the next page begins; null on the last one. */
  readonly next: Position | null;
  /** Whether the search ended before the page was full and before the end of the list. */
  readonly stoppedEarly: boolean;
}

/** The most documents that one call reads. */
export const MAX_SEARCHED = 5000;
const CHUNK = 250;

/**
 * Searches a list until a page is full, the list ends, or `MAX_SEARCHED` documents were read. The
 * next page begins after the last item of a full page, else after the last document that was read.
 */
export async function searchPage<Doc extends Document>(
  search: Search<Doc>,
  limit: number,
  from: From,
): Promise<SearchedPage<Doc>> {
  const chunkSize = search.matching ? CHUNK : limit + 1;
  const items: Doc[] = [];
  let length = 0;
  let next: Position | null = null;
  for (let searched = 0; searched < MAX_SEARCHED; searched += chunkSize) {
    const after: From = next === null ? from : { after: next };
    const chunk = await search.find({ limit: chunkSize, ...after });
    const within = chunk.filter((document) => !(search.isPast?.(document) ?? false));
    for (const item of search.matching ? await search.matching(within) : within) {
      length += JSON.stringify(item).length;
      const isFull = items.length === limit || (items.length > 0 && length > MAX_PAGE_CHARACTERS);
      if (isFull) return { items, next: search.positionOf(items.at(-1)!), stoppedEarly: false };
      items.push(item);
    }
    if (chunk.length < chunkSize || within.length < chunk.length)
      return { items, next: null, stoppedEarly: false };
    next = search.positionOf(chunk.at(-1)!);
  }
  return { items, next, stoppedEarly: true };
}
