/**
 * The store's port: everything the service asks of a database.
 *
 * Transactions over collections of JSON documents, job queues, and a change feed. `lowdb/`
 * implements it in one process, `postgres/` for several. Every implementation passes the suite in
 * test/contract/.
 */

/** A stored document: plain JSON with an id. It is never changed in place; put a new one. */
export interface Document {
  readonly id: string;
}

/** A value that can be compared for equality or order. */
export type Scalar = string | number | boolean | null;

type ScalarField<Doc> = {
  [K in keyof Doc]-?: Doc[K] extends Scalar | undefined ? K : never;
}[keyof Doc] &
  string;

/** Finds documents with equal `on` fields, in the order of `orderBy`, then id. */
export interface IndexDefinition<Doc> {
  readonly on: readonly ScalarField<Doc>[];
  /** Default: `id`, which sorts by time of creation. */
  readonly orderBy?: ScalarField<Doc>;
  /** No two documents may agree in all `on` fields, unless one of these fields is null. */
  readonly unique?: boolean;
}

/** Makes documents searchable by words. */
export interface WordsDefinition<Doc> {
  /** A search looks at documents with one value of this field, such as a workspace. */
  readonly within: ScalarField<Doc>;
  /** The words of a document: letters and digits, as `search` compares them. */
  readonly of: (document: Doc) => Iterable<string>;
}

export interface CollectionDefinition<Doc extends Document> {
  readonly indexes: readonly IndexDefinition<Doc>[];
  /** Default: `search` is not possible. */
  readonly words?: WordsDefinition<Doc>;
  /** Carries the document's type; never set. */
  readonly example?: Doc;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a schema holds collections of any document type
export type Schema = Record<string, CollectionDefinition<any>>;

type DocumentOf<C> = C extends CollectionDefinition<infer Doc> ? Doc : never;

export interface Query<Doc> {
  /**
   * The value that each of these fields must have. The schema needs an index that has the query's
   * `orderBy` and no `on` field besides these. Each of these must be in this index or another one.
   */
  readonly where: Partial<Pick<Doc, ScalarField<Doc>>>;
  /** Default `id`. */
  readonly orderBy?: ScalarField<Doc>;
  /** Default `asc`. */
  readonly direction?: 'asc' | 'desc';
  /**
   * Only documents after this position, such as the end of the previous page. `value` is that of
   * `orderBy`; without `id`, all documents with this value are skipped.
   */
  readonly after?: { readonly value: string | number; readonly id?: string };
  readonly limit: number;
}

export interface SearchedWord {
  readonly word: string;
  /** Also finds words that begin with it. */
  readonly isPrefix: boolean;
}

export interface WordSearch {
  /** The value of the field that the collection's `words` name as `within`. */
  readonly within: string;
  /** Finds documents that have at least one word of each list. */
  readonly allOf: readonly (readonly SearchedWord[])[];
  /** Only documents with a lower id. */
  readonly before?: string;
  readonly limit: number;
}

/** One collection inside a transaction; reads see the transaction's own writes. */
export interface Collection<Doc extends Document> {
  /**
   * Reads and locks a document until the transaction ends. Use it for what the transaction changes
   * or bases a decision on. An id without a document is locked too, and gives null.
   */
  get(id: string): Promise<Doc | null>;
  /** Reads without locking. Use it for what is only shown or passed on. Null when there is none. */
  peek(id: string): Promise<Doc | null>;
  /**
   * Reads without locking. If a found document changes before it is put, the transaction reruns.
   */
  find(query: Query<Doc>): Promise<readonly Doc[]>;
  /** Finds by words, the highest id first. Like `find`, reads without locking. */
  search(query: WordSearch): Promise<readonly Doc[]>;
  /**
   * Inserts or replaces by id. Throws UniqueViolation, here or when the transaction ends. To put a
   * unique value that another document loses in the same transaction, first `find` in the
   * collection: that carries out the earlier writes.
   */
  put(doc: Doc): Promise<void>;
  /** @returns whether there was a document */
  delete(id: string): Promise<boolean>;
}

/**
 * Work that waits for its time. Jobs of one queue and group share a limit (a subscription's
 * deliveries). Groups whose names begin with the same word are one share (a workspace's).
 */
export interface Job {
  readonly id: string;
  readonly queue: string;
  readonly group: string;
  /**
   * The earliest time to claim it, in milliseconds since the epoch. How long the job waits is fixed
   * when it is enqueued; setting the wall clock later does not change it.
   */
  readonly runAt: number;
  /**
   * Of a group's due jobs, lower ranks come first (0: fresh, 1: retry). Every eighth time, a job of
   * the highest rank comes first.
   */
  readonly rank: number;
  readonly data: Readonly<Record<string, Scalar>>;
}

export type Transaction<S extends Schema> = {
  readonly [Name in keyof S]: Collection<DocumentOf<S[Name]>>;
} & {
  readonly jobs: TransactionJobs;
};

export interface TransactionJobs {
  enqueue(job: Job): Promise<void>;
  /** Removes a job, claimed or not, in the transaction that records the work's result. */
  complete(id: string): Promise<void>;
  /** Gives a claimed job back, to run at another time. Does nothing when the job is gone. */
  release(id: string, at: { runAt: number; rank: number }): Promise<void>;
}

/** A group's share: its name up to the first space, or the whole name. */
export function shareOf(group: string): string {
  const end = group.indexOf(' ');
  return end === -1 ? group : group.slice(0, end);
}

/**
 * Places for running jobs, common to all shares. A share may take another place while it holds
 * fewer places than are free.
 */
export interface SharedPlaces {
  /** How many are free. */
  readonly free: number;
  heldBy(share: string): number;
}

export interface ClaimRequest {
  readonly queue: string;
  /** At most this many jobs in all. */
  readonly limit: number;
  /** Each claimed job takes one of them. Default: no limit. */
  readonly places?: SharedPlaces;
  /** How many more jobs of this group the caller can take. */
  readonly freeSlots: (group: string) => number;
  /** After this time, by the store's clock, an unfinished job can be claimed again. */
  readonly leaseMs: number;
}

/** One document that a committed transaction wrote or removed. */
export interface Change<S extends Schema = Schema> {
  readonly position: string;
  readonly collection: keyof S & string;
  readonly id: string;
  /** The document as written, null when removed. */
  readonly document: Document | null;
}

/** Changes were missed: the position is too old or from before a restart. Read everything again. */
export interface Gap {
  readonly position: string;
  readonly gap: true;
}

/** The state of one queue. */
export interface QueueStats {
  /** Unclaimed jobs, due or not. */
  readonly waiting: number;
  /** Unclaimed jobs that are due. */
  readonly due: number;
  /** Jobs with a running lease. */
  readonly claimed: number;
  /** How long the oldest due job has been waiting, in milliseconds; null when none is due. */
  readonly oldestDueMs: number | null;
}

/** The files of a store that writes to a disk itself. */
export interface FileStats {
  /** How much the next start replays. */
  readonly journalBytes: number;
  /** Length of the last snapshot; 0 when there is none. */
  readonly snapshotBytes: number;
  /** When the last snapshot was finished, in milliseconds since the epoch; null without one. */
  readonly snapshotAt: number | null;
}

/** For the operator. */
export interface StoreStats {
  /** By name; a queue that never held a job may be left out. */
  readonly queues: Readonly<Record<string, QueueStats>>;
  /** Null for a store that leaves files to a database. */
  readonly files: FileStats | null;
}

/**
 * What the service must refuse because the store's memory is nearly full, the least first. A holder
 * is what documents are counted towards: in this service, a workspace.
 */
export type Refusal =
  | 'nothing'
  /** New visitors of holders that have more than is free. */
  | 'visitors_of_largest'
  /** Everything that these holders add. */
  | 'largest'
  /** All new visitors. Only when there is one holder. */
  | 'visitors'
  /** Everything that adds. */
  | 'additions';

/** How full the memory of an embedded store is. */
export interface StorePressure {
  readonly refuses: Refusal;
  /** How much was live after V8's last major garbage collection. */
  readonly liveBytes: number;
  /** How much may be live before V8 ends the process. */
  readonly limitBytes: number;
  /** The shares of the limit at which refusals begin. */
  readonly marks: Readonly<Record<Exclude<Refusal, 'nothing'>, number>>;
  /** The number of the last exact measurement. After making room, wait for the next one. */
  readonly measurement: number;
  /** The largest holder's part of everything stored, from 0 to 1. */
  readonly largestShare: number;
  /** A holder's part of everything stored, from 0 to 1. */
  storedShareOf(holder: string): number;
  /** Whether a holder has more than is free. */
  holdsTooMuch(holder: string): boolean;
  /** All holders, the largest first. */
  holders(): readonly string[];
}

export interface Store<S extends Schema> {
  /**
   * Runs `fn` and commits what it wrote, or nothing when it throws. `fn` does no other I/O and may
   * run again. Resolves when everything that `fn` read or wrote is durable.
   * @throws StoreUnavailable when the store cannot write; then nothing that `fn` wrote is kept
   */
  transaction<T>(fn: (tx: Transaction<S>) => Promise<T>): Promise<T>;

  /**
   * Claims due jobs: shares with the fewest places first, groups in turn, then by rank and time.
   */
  claim(request: ClaimRequest): Promise<readonly Job[]>;
  /**
   * Milliseconds until a job can be claimed, leaving out groups to `skip`; null when none waits.
   */
  msUntilDue(
    queue: string,
    skip?: (group: string) => boolean,
    places?: SharedPlaces,
  ): Promise<number | null>;

  /** Durable changes after the position `since` (default: now), until `signal` aborts. */
  changes(options: { since?: string; signal: AbortSignal }): AsyncIterable<Change<S> | Gap>;
  /**
   * Calls back after each durable commit that added or released work in a queue (default: any).
   * @returns a function that stops listening; when a queue has no listener left in this process,
   * other processes take its work over
   */
  onWork(listener: () => void, queue?: string): () => void;

  /**
   * Replaces each document by what `change` returns, in one transaction. All other transactions wait.
   * @param change called with every document, also of collections that the schema no longer names;
   * returns the same object to leave it as it is. May be called again when a connection is lost.
   */
  rewrite(change: (document: Document, collection: string) => Document): Promise<void>;
  /** Removes former versions of documents from the store's files. */
  forgetHistory(): Promise<void>;

  /**
   * Everything stored at one moment: documents by collection and id, then jobs. Does not hold up
   * transactions.
   */
  dump(): AsyncIterable<DumpedRecord>;
  /**
   * Restores a dump into an empty store: all of it or, when it fails or the process dies, nothing.
   * @throws StoreNotEmpty when anything is stored already
   */
  restore(records: AsyncIterable<DumpedRecord>): Promise<void>;

  /** Why the store cannot write; null when it can. */
  readonly fault: string | null;
  /** Null when the data is not in this process's memory. The caller refuses, not the store. */
  readonly pressure: StorePressure | null;
  /**
   * Also answers during an outage. A database's counts may be up to half a minute old.
   */
  stats(): Promise<StoreStats>;
  close(): Promise<void>;
}

/** One record of a dump. A claimed job appears as a waiting one. */
export type DumpedRecord =
  | { readonly collection: string; readonly document: Document }
  | { readonly job: Job };

/** Only an empty store can restore a dump. */
export class StoreNotEmpty extends Error {
  override readonly name = 'StoreNotEmpty';
}

/** The store cannot write now (disk full, fsync failed, connection lost). Try again later. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** Two documents would have the same value in a unique index. */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation';
  constructor(collection: string, fields: readonly string[]) {
    super(`${collection} already holds a document with the same ${fields.join(', ')}`);
  }
}

/** Declares a collection with its document's type: `collection<Contact>({ indexes: [...] })`. */
export const collection = <Doc extends Document>(definition: {
  readonly indexes: readonly IndexDefinition<Doc>[];
  readonly words?: WordsDefinition<Doc>;
}): CollectionDefinition<Doc> => definition;
