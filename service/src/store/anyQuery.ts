import type { Document, Query } from './store.ts';

/** A query with its types erased: tables do not know their documents' fields. */
export interface AnyQuery {
  readonly where: Readonly<Record<string, unknown>>;
  readonly orderBy?: string;
  readonly direction?: 'asc' | 'desc';
  readonly after?: Query<Document>['after'];
  readonly limit: number;
}

/**
 * @throws Error: passing it over would find documents of everybody when a filter is undefined by
 * mistake
 */
export function refuseUndefined(collection: string, where: AnyQuery['where']): void {
  for (const field in where) {
    if (where[field] === undefined)
      throw new Error(
        `find in ${collection}: where.${field} is undefined; use null or leave it out`,
      );
  }
}

/** A programming error: the schema declares no index that answers such a query. */
export const noIndexFits = (collection: string, where: AnyQuery['where'], orderBy: string): Error =>
  new Error(
    `find in ${collection}: no index fits; declare { on: ${JSON.stringify(Object.keys(where))} (or some of these), orderBy: '${orderBy}' }`,
  );
