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

/** Asks for one more than the page holds, to know whether another follows. Lists are ordered by id. */
export async function pageOf<T extends { readonly id: string }>(
  { limit, cursor }: PageRequest,
  find: (query: { limit: number; after?: { value: string; id: string } }) => Promise<readonly T[]>,
): Promise<Page<T>> {
  const found = await find({ limit: limit + 1, ...(cursor === null ? {} : { after: { value: cursor, id: cursor } }) });
  const items = found.slice(0, limit);
  return { items, nextCursor: found.length > limit ? items.at(-1)!.id : null };
}

/** Cursors are ids; anything else was made up. @throws invalid_request (400) */
export function parseCursor(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  if (/^[a-z]+_[0-9A-Z]{26}$/.test(cursor)) return cursor;
  throw new AppError('invalid_request', 'cursor is not one that this list gave out. Use next_cursor of the page before, as it is.', {
    param: 'cursor',
  });
}
