/**
 * The store's port: everything the service asks of a database, on one screen.
 *
 * Transactions over collections of JSON documents, a work queue, and a change feed. The domain is
 * written once against it; `lowdb/` implements it in one process, another store can implement it
 * across several. The contract suite in test/contract/ says what an implementation owes.
 */

/** A stored document: plain JSON with an id. Never changed in place; put a new one. */
export interface Document {
  readonly id: string;
}

/** A value that can be compared for equality or order. */
export type Scalar = string | number | boolean | null;

type ScalarField<Doc> = {
  [K in keyof Doc]-?: Doc[K] extends Scalar | undefined ? K : never;
}[keyof Doc] &
  string;

/**
 * Documents that agree in the fields `on` are found together, in the order of `orderBy`, then id.
 */
export interface IndexDefinition<Doc> {
  readonly on: readonly ScalarField<Doc>[];
  /** Default: `id`, which sorts by time of creation. */
  readonly orderBy?: ScalarField<Doc>;
  /**
   * At most one document for each value of `on`; one that holds null in any of them does not count.
   */
  readonly unique?: boolean;
}

export interface CollectionDefinition<Doc extends Document> {
  readonly indexes: readonly IndexDefinition<Doc>[];
  /** Only for the type. */
  readonly example?: Doc;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a schema holds collections of any document type
export type Schema = Record<string, CollectionDefinition<any>>;

type DocumentOf<C> = C extends CollectionDefinition<infer Doc> ? Doc : never;

export interface Query<Doc> {
  /**
   * Equality, field by field. Some index must cover `orderBy` with its `on` fields all named here.
   */
  readonly where: Partial<Pick<Doc, ScalarField<Doc>>>;
  /** Default `id`. */
  readonly orderBy?: ScalarField<Doc>;
  /** Default `asc`. */
  readonly direction?: 'asc' | 'desc';
  /**
   * Only what comes after this position in the chosen direction (a page's last document). Without
   * `id`: everything at that value is skipped too.
   */
  readonly after?: { readonly value: string | number; readonly id?: string };
  readonly limit: number;
}

/** One collection inside a transaction; reads see the transaction's own writes. */
export interface Collection<Doc extends Document> {
  /**
   * Locks what it reads until the transaction ends, an id that nobody has yet too: whoever gets the
   * same waits. For what this transaction changes, or decides a change of something else by. Null
   * when there is none.
   */
  get(id: string): Promise<Doc | null>;
  /**
   * Reads without locking: others may change it meanwhile. For what is only shown or passed on.
   * Null when there is none.
   */
  peek(id: string): Promise<Doc | null>;
  /**
   * Reads without locking. A document found can be put changed all the same: if it was changed
   * meanwhile, the transaction runs again.
   */
  find(query: Query<Doc>): Promise<readonly Doc[]>;
  /** Inserts or replaces by id. Throws UniqueViolation, here or when the transaction ends. */
  put(doc: Doc): Promise<void>;
  /** True when there was one. */
  delete(id: string): Promise<boolean>;
}

/**
 * A piece of work that waits for its time. Jobs of one queue and group share a limit (a
 * subscription's deliveries); groups whose names begin with the same word are one share (a
 * workspace's), see `shareOf`.
 */
export interface Job {
  readonly id: string;
  readonly queue: string;
  readonly group: string;
  /**
   * Milliseconds since the epoch; not claimed before. How long that is from now is settled when the
   * job is enqueued: a clock on the wall that is set afterwards neither brings it forward nor puts
   * it off.
   */
  readonly runAt: number;
  /**
   * Jobs of lower rank are claimed first among those that are due in a group (0: fresh, 1: retry);
   * every eighth turn is the others', so that none waits for ever.
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
  /**
   * Removes a job, claimed or not; whoever claimed it says so in the transaction that records the
   * work's result.
   */
  complete(id: string): Promise<void>;
  /** Gives a claimed job back, to run at another time. Nothing happens when it is gone. */
  release(id: string, at: { runAt: number; rank: number }): Promise<void>;
}

/**
 * The share that a group belongs to: its name up to the first space. A group without one is a share
 * of its own.
 */
export function shareOf(group: string): string {
  const end = group.indexOf(' ');
  return end === -1 ? group : group.slice(0, end);
}

/**
 * Places for work under way that shares have in common. A share gets one more as long as it holds
 * fewer than are free.
 */
export interface SharedPlaces {
  /** How many nobody holds. */
  readonly free: number;
  heldBy(share: string): number;
}

export interface ClaimRequest {
  readonly queue: string;
  /** At most this many jobs in all. */
  readonly limit: number;
  /**
   * Each job takes one, and a share that may take no more is left alone. Left out: there are places
   * for all.
   */
  readonly places?: SharedPlaces;
  /** How many more jobs of this group the caller can take; 0 leaves the group alone. */
  readonly freeSlots: (group: string) => number;
  /**
   * By the store's own clock: after this time an unfinished job can be claimed again (its worker is
   * taken for dead).
   */
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

/**
 * Says that changes were missed (the position is too old or from another life of the store): read
 * again.
 */
export interface Gap {
  readonly position: string;
  readonly gap: true;
}

/** How one queue stands. */
export interface QueueStats {
  /** Jobs that nobody has claimed, due or not. */
  readonly waiting: number;
  /** Of those the ones whose time has come. */
  readonly due: number;
  /** Jobs whose lease has not been ended. */
  readonly claimed: number;
  /**
   * How long the job that is due longest has been waiting for a claim, in milliseconds; null: none
   * is due.
   */
  readonly oldestDueMs: number | null;
}

/** What lies on a disk that the store itself writes to. */
export interface FileStats {
  /** What the next start has to replay, in bytes. */
  readonly journalBytes: number;
  /** Length of the last snapshot; 0 when there is none. */
  readonly snapshotBytes: number;
  /**
   * When the last snapshot was finished, in milliseconds since the epoch; null when there is none.
   */
  readonly snapshotAt: number | null;
}

/** For an operator's eyes. */
export interface StoreStats {
  /** By name; a queue that never held a job is left out. */
  readonly queues: Readonly<Record<string, QueueStats>>;
  /** Null for a store that leaves files to a database. */
  readonly files: FileStats | null;
}

/**
 * What a store refuses for want of memory: nothing; new visitors of those holders who hold too
 * much, or whatever they add; new visitors of everybody, or whatever adds to what is stored. Each
 * holds what those before it hold.
 */
export type Refusal = 'nothing' | 'visitors_of_largest' | 'largest' | 'visitors' | 'additions';

/** How full the memory is that holds everything stored. */
export interface StorePressure {
  readonly refuses: Refusal;
  /** What was live after the last major collection. */
  readonly liveBytes: number;
  /** What may be live before the process ends. */
  readonly limitBytes: number;
  /** From which share of the limit on it is refused. */
  readonly marks: Readonly<Record<Exclude<Refusal, 'nothing'>, number>>;
  /** Counts the measurements that no garbage distorts: who has made room waits for the next one. */
  readonly measurement: number;
  /** What the one who holds most holds of all that is stored, from 0 to 1. */
  readonly largestShare: number;
  /** What one holds of all that is stored, from 0 to 1. */
  shareOf(holder: string): number;
  /** Whether one holds more than is free. */
  holdsTooMuch(holder: string): boolean;
  /** All who hold anything, who holds most first. */
  holders(): readonly string[];
}

export interface Store<S extends Schema> {
  /**
   * Runs `fn` and commits what it wrote, all of it or, when it throws, nothing.
   * `fn` uses the transaction alone (no other I/O) and may be run again.
   * Resolves when everything that `fn` read or wrote is durable.
   * @throws StoreUnavailable when the store cannot write; nothing of `fn` is kept then
   */
  transaction<T>(fn: (tx: Transaction<S>) => Promise<T>): Promise<T>;

  /**
   * Claims due and durable jobs: of the share first that holds fewest places, among equals in turn;
   * within it groups in turn, within each group by rank, then time.
   */
  claim(request: ClaimRequest): Promise<readonly Job[]>;
  /**
   * How long until a job of a queue can be claimed (0: now), leaving out groups for which `skip`
   * holds, and shares that may take no more of `places`; null: none waits.
   */
  msUntilDue(
    queue: string,
    skip?: (group: string) => boolean,
    places?: SharedPlaces,
  ): Promise<number | null>;

  /**
   * Every durable change after `since` (a position; from now on when left out), until `signal`
   * aborts.
   */
  changes(options: { since?: string; signal: AbortSignal }): AsyncIterable<Change<S> | Gap>;
  /**
   * Calls back after each durable commit that added or released work in a queue (any queue when it
   * is left out). Returns the way to stop: when nobody here listens to a queue any more, other
   * processes take its work over at once.
   */
  onWork(listener: () => void, queue?: string): () => void;

  /**
   * Puts what `change` makes of each document in its place, in one transaction: all of them or,
   * when it throws, none. For the rare time when everything is to be written anew; all others wait.
   * @param change given every document of every collection, also of those that the schema names no
   * more; returns the very same object to leave it alone
   */
  rewrite(change: (document: Document, collection: string) => Document): Promise<void>;
  /** Leaves nothing of what documents were before in any file of the store. */
  forgetHistory(): Promise<void>;

  /**
   * Everything stored as of one moment: documents by collection and id, then jobs. Those that read
   * and write meanwhile do not wait for it.
   */
  dump(): AsyncIterable<DumpedRecord>;
  /**
   * Takes what `dump` gave into a store that holds nothing: all of it or, when it fails or the
   * process dies, nothing.
   * @throws StoreNotEmpty when anything is stored already
   */
  restore(records: AsyncIterable<DumpedRecord>): Promise<void>;

  /** Null when the store can write, else why it cannot, in words. */
  readonly fault: string | null;
  /**
   * Null for a store whose data lies outside of this process's memory. The store itself goes on
   * taking everything.
   */
  readonly pressure: StorePressure | null;
  /**
   * Answers during an outage too. In the embedded store it costs as much as there are groups with
   * due jobs, and `due` as there are due jobs. A database counts all jobs: what it said is used for
   * a while, the longer, the longer counting took (half a minute at most).
   */
  stats(): Promise<StoreStats>;
  close(): Promise<void>;
}

/** One line of a dump. A job that was claimed is given as one that waits. */
export type DumpedRecord =
  | { readonly collection: string; readonly document: Document }
  | { readonly job: Job };

/** A dump can be taken only by a store that holds nothing. */
export class StoreNotEmpty extends Error {
  override readonly name = 'StoreNotEmpty';
}

/**
 * The store cannot write now (disk full, fsync failed, connection lost); the call may be made again
 * later.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** A put that would make two documents agree in a unique index. */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation';
  constructor(collection: string, fields: readonly string[]) {
    super(`${collection} already holds a document with the same ${fields.join(', ')}`);
  }
}

/** Declares a collection with its document's type: `collection<Contact>({ indexes: [...] })`. */
export const collection = <Doc extends Document>(definition: {
  readonly indexes: readonly IndexDefinition<Doc>[];
}): CollectionDefinition<Doc> => definition;
