import type { Collection, Document, Query } from '../../store/store.ts';
import type { Tx } from '../../store/collections.ts';
import type { Deps } from '../deps.ts';
import { AppError } from './errorCatalogue.ts';

/** A page of a list: how many, and after which position. */
export interface PageRequest {
  readonly limit: number;
  /** The id of the last item of the page before. */
  readonly cursor: string | null;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/**
 * The most characters that the items of a page take as JSON. A single item may take more. A hundred
 * of the largest tools would be six megabytes and block the event loop for a tenth of a second, and
 * an automation may request pages 200 times a second.
 */
export const MAX_PAGE_CHARACTERS = 512 * 1024;
/** How many items are read first. Their size tells how many more fit. */
const FIRST_READ = 20;

/**
 * Reads a page of a list that is ordered by id, and one item more to know whether another page
 * follows. The page ends early when its items are large.
 */
export async function pageOf<T extends { readonly id: string }>(
  { limit, cursor }: PageRequest,
  find: (query: { limit: number; after?: { value: string; id: string } }) => Promise<readonly T[]>,
): Promise<Page<T>> {
  const items: T[] = [];
  let length = 0;
  for (let last = cursor, wanted = Math.min(limit + 1, FIRST_READ); ; ) {
    const found = await find({
      limit: wanted,
      ...(last === null ? {} : { after: { value: last, id: last } }),
    });
    for (const item of found) {
      const itemLength = JSON.stringify(item).length;
      const isFull =
        items.length === limit || (items.length > 0 && length + itemLength > MAX_PAGE_CHARACTERS);
      if (isFull) return { items, nextCursor: items.at(-1)!.id };
      items.push(item);
      length += itemLength;
    }
    if (found.length < wanted) return { items, nextCursor: null };
    last = items.at(-1)!.id;
    const fitting = Math.ceil(((MAX_PAGE_CHARACTERS - length) * items.length) / length);
    wanted = Math.min(limit + 1 - items.length, Math.max(1, fitting));
  }
}

/** Cursors are ids; no page has returned anything else. @throws invalid_request (400) */
export function parseCursor(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  if (/^[a-z]+_[0-9A-Z]{26}$/.test(cursor)) return cursor;
  throw new AppError(
    'invalid_request',
    'cursor is not one that this list gave out. Use next_cursor of the page before, as it is.',
    {
      param: 'cursor',
    },
  );
}

/** Where a batch of a list starts, as a part of its query; `{}` is the beginning. */
export interface From {
  readonly after?: { readonly value: string; readonly id?: string };
}

export interface Batch<Result> {
  readonly result: Result;
  /** Where the next batch starts; null when this one was the last. */
  readonly next: From | null;
}

/**
 * Works through a long list in small transactions, so that others do not wait long.
 * @param take works on one batch
 * @returns the result of each batch; a batch begins when its result is requested
 */
export async function* inBatches<Result>(
  { store }: Pick<Deps, 'store'>,
  take: (tx: Tx, from: From) => Promise<Batch<Result>>,
  first: From = {},
): AsyncGenerator<Result> {
  for (let next: From | null = first; next !== null; ) {
    const from: From = next;
    const batch = await store.transaction((tx) => take(tx, from));
    yield batch.result;
    next = batch.next;
  }
}

/** Adds up the results of all batches. */
export async function sumOfBatches(...batches: Parameters<typeof inBatches<number>>) {
  let sum = 0;
  for await (const result of inBatches(...batches)) sum += result;
  return sum;
}

/** Where the batch after this one starts in a list that is ordered by id. */
export const following = (batch: readonly Document[], limit: number): From | null =>
  batch.length < limit ? null : { after: { value: batch.at(-1)!.id } };

/** Reads a page of a collection, newest first. */
export const newestFirst = <Doc extends Document>(
  collection: Collection<Doc>,
  where: Query<Doc>['where'],
  page: PageRequest,
): Promise<Page<Doc>> =>
  pageOf(page, (query) => collection.find({ where, direction: 'desc', ...query }));

/** @throws invalid_request (400) for a cursor that no page returned */
export const pageFrom = ({
  limit,
  cursor,
}: {
  limit: number;
  cursor?: string | undefined;
}): PageRequest => ({
  limit,
  cursor: parseCursor(cursor),
});

export const pageJson = <Item, Json>(
  { items, nextCursor }: Page<Item>,
  toJson: (item: Item) => Json,
) => ({
  data: items.map(toJson),
  next_cursor: nextCursor,
});
