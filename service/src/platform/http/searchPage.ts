import type { Document } from '../../store/store.ts';
import { MAX_PAGE_CHARACTERS, type From } from './page.ts';

/** A document's place in a list. */
export interface Position {
  readonly value: string;
  readonly id: string;
}

export interface Search<Doc> {
  /** Reads on, in the order of the list. */
  find(query: { limit: number } & From): Promise<readonly Doc[]>;
  positionOf(document: Doc): Position;
  /** Finds those of the documents that are wanted. Left out: all of them. */
  matching?(documents: readonly Doc[]): Promise<readonly Doc[]>;
  /** Whether nothing is wanted from this document on. */
  isPast?(document: Doc): boolean;
}

export interface SearchedPage<Doc> {
  readonly items: readonly Doc[];
  /** Where the next page begins; null on the last one. */
  readonly next: Position | null;
  /** The search ended before the page was full and before everything was seen. */
  readonly stoppedEarly: boolean;
}

/** The most documents that one call looks at. */
export const MAX_SEARCHED = 5000;
const CHUNK = 250;

/**
 * Looks through a list until a page is full, everything was seen, or `MAX_SEARCHED` documents were
 * looked at. The next page begins after what was seen.
 */
export async function searchPage<Doc extends Document>(
  search: Search<Doc>,
  limit: number,
  from: From,
): Promise<SearchedPage<Doc>> {
  const atOnce = search.matching ? CHUNK : limit + 1;
  const items: Doc[] = [];
  let length = 0;
  let next: Position | null = null;
  for (let lookedAt = 0; lookedAt < MAX_SEARCHED; lookedAt += atOnce) {
    const after: From = next === null ? from : { after: next };
    const chunk = await search.find({ limit: atOnce, ...after });
    const wanted = chunk.filter((document) => !(search.isPast?.(document) ?? false));
    for (const item of search.matching ? await search.matching(wanted) : wanted) {
      length += JSON.stringify(item).length;
      const isFull = items.length === limit || (items.length > 0 && length > MAX_PAGE_CHARACTERS);
      if (isFull) return { items, next: search.positionOf(items.at(-1)!), stoppedEarly: false };
      items.push(item);
    }
    if (chunk.length < atOnce || wanted.length < chunk.length)
      return { items, next: null, stoppedEarly: false };
    next = search.positionOf(chunk.at(-1)!);
  }
  return { items, next, stoppedEarly: true };
}
