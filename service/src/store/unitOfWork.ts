import type {
  Collection,
  Document,
  Query,
  Schema,
  Transaction,
  TransactionJobs,
  WordSearch,
} from './store.ts';

/** One transaction of a store, for any schema. `transactionMaker` turns it into a schema's `tx`. */
export interface UnitOfWork {
  readonly jobs: TransactionJobs;
  get(collection: string, id: string): Promise<Document | null>;
  peek(collection: string, id: string): Promise<Document | null>;
  find(collection: string, query: AnyQuery): Promise<readonly Document[]>;
  search(collection: string, query: WordSearch): Promise<readonly Document[]>;
  put(collection: string, document: Document): Promise<void>;
  delete(collection: string, id: string): Promise<boolean>;
}

/** A query with its types erased: tables do not know their documents' fields. */
export interface AnyQuery {
  readonly where: Readonly<Record<string, unknown>>;
  readonly orderBy?: string;
  readonly direction?: 'asc' | 'desc';
  readonly after?: Query<Document>['after'];
  readonly limit: number;
}

/**
 * Makes the `tx` objects of a schema. Each collection is a getter, so that a transaction creates
 * only those it uses.
 */
export function transactionMaker<S extends Schema>(schema: S) {
  class SchemaTransaction {
    readonly work: UnitOfWork;
    constructor(work: UnitOfWork) {
      this.work = work;
    }
    get jobs(): TransactionJobs {
      return this.work.jobs;
    }
  }
  for (const name of Object.keys(schema))
    Object.defineProperty(SchemaTransaction.prototype, name, {
      get(this: SchemaTransaction) {
        return collectionOf(this.work, name);
      },
    });
  return (work: UnitOfWork) => new SchemaTransaction(work) as unknown as Transaction<S>;
}

const collectionOf = (work: UnitOfWork, name: string): Collection<Document> => ({
  get: (id) => work.get(name, id),
  peek: (id) => work.peek(name, id),
  find: (query) => work.find(name, query as AnyQuery),
  search: (query) => work.search(name, query),
  put: (document) => work.put(name, document),
  delete: (id) => work.delete(name, id),
});

/**
 * The indexes that can answer a query.
 * @throws Error when a field of `where` is undefined, because ignoring it could find documents of other
 * workspaces, or when the schema declares no index for such a query
 */
export function indexesFor<Index extends { readonly on: readonly string[]; orderBy?: string }>(
  collection: string,
  indexes: readonly Index[],
  { where, orderBy = 'id' }: Pick<AnyQuery, 'where' | 'orderBy'>,
): readonly Index[] {
  for (const field in where) {
    if (where[field] === undefined)
      throw new Error(
        `find in ${collection}: where.${field} is undefined; use null or leave it out`,
      );
    if (
      field !== 'id' &&
      !indexes.some((index) => index.on.includes(field) || index.orderBy === field)
    )
      throw new Error(`find in ${collection}: ${field} is in no index; declare one with it`);
  }
  const fitting = indexes.filter(
    (index) => (index.orderBy ?? 'id') === orderBy && index.on.every((field) => field in where),
  );
  if (fitting.length > 0) return fitting;
  throw new Error(
    `find in ${collection}: no index fits; declare { on: ${JSON.stringify(Object.keys(where))} (or some of these), orderBy: '${orderBy}' }`,
  );
}

/** Makes the error for a search in a collection whose `words` the schema does not declare. */
export const noWords = (collection: string): Error =>
  new Error(`search in ${collection}: declare its words in the schema`);

/** @throws Error when a transaction is used after its function has returned */
export function assertNotEnded(hasEnded: boolean): void {
  if (hasEnded) throw new Error('The transaction has ended; await everything inside its function');
}
