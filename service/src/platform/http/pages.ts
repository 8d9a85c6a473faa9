import { parseCursor, type Page, type PageRequest } from './page.ts';

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
