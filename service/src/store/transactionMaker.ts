import type { Collection, Document, Schema, Transaction, TransactionJobs } from './store.ts';

/**
 * Makes the `tx` objects of a schema: a getter for each collection, so that a transaction makes
 * only those it uses.
 */
export function transactionMaker<S extends Schema, Session>(
  schema: S,
  collectionOf: (session: Session, name: string) => Collection<Document>,
  jobsOf: (session: Session) => TransactionJobs,
): (session: Session) => Transaction<S> {
  class SchemaTransaction {
    readonly session: Session;
    constructor(session: Session) {
      this.session = session;
    }
  }
  const define = (name: string, of: (session: Session) => unknown) =>
    Object.defineProperty(SchemaTransaction.prototype, name, {
      get(this: SchemaTransaction) {
        return of(this.session);
      },
    });
  for (const name of Object.keys(schema)) define(name, (session) => collectionOf(session, name));
  define('jobs', jobsOf);
  return (session) => new SchemaTransaction(session) as unknown as Transaction<S>;
}
