import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { Low } from 'lowdb';
import type {
  Change,
  ClaimRequest,
  Document,
  DumpedRecord,
  Gap,
  Job,
  Schema,
  SharedPlaces,
  Store,
  StorePressure,
  StoreStats,
  Transaction,
} from '../store.ts';
import { StoreNotEmpty, StoreUnavailable } from '../store.ts';
import { JournaledAdapter } from './adapter.ts';
import { ChangeFeed } from '../changeFeed.ts';
import type { TableView } from './readView.ts';
import { ReadView, dumped } from './readView.ts';
import type { StoreDamaged } from './errors.ts';
import { inWords } from './errors.ts';
import { nodeFiles } from './files.ts';
import { tidyFolder } from './folder.ts';
import type { FolderLock } from './folderLock.ts';
import { HeapWatch } from './heapWatch.ts';
import { StorageUsage } from './storageUsage.ts';
import type { LowdbOptions } from './options.ts';
import { silent, systemTime } from '../options.ts';
import type { StoredJob } from './jobClock.ts';
import { JobClock } from './jobClock.ts';
import { Restoring } from './restore.ts';
import { snapshotLine } from './snapshotWriter.ts';
import type { Write } from './unitOfWork.ts';
import { LowdbUnitOfWork } from './unitOfWork.ts';
import { transactionMaker } from '../unitOfWork.ts';
import type { Data } from './state.ts';
import { JOBS, State } from './state.ts';
import { JobQueues } from './jobQueues.ts';
import { Semaphore } from '../../work/semaphore.ts';

const DEFAULTS = {
  snapshotAfterBytes: 64 << 20,
  snapshotRetryMs: 30_000,
  retryMs: 1_000,
  stalledAfterMs: 30_000,
  keptChanges: 10_000,
  log: silent,
  clock: systemTime,
  holderOf: () => null,
  files: nodeFiles,
};
const WATCH_MS = 10_000;

interface Ended<T> {
  readonly outcome: PromiseSettledResult<T>;
  /** Null: everything that was read or written is durable already. */
  readonly durable: Promise<void> | null;
}

interface WorkListener {
  readonly call: () => void;
  /** Undefined: every queue. */
  readonly queue: string | undefined;
}

/**
 * The embedded store at work: one transaction after the other in memory, the journal behind them,
 * and what becomes durable shown to queue, feed and listeners. When the disk fails it goes back to
 * what is there.
 */
export class LowdbStore<S extends Schema> implements Store<S> {
  private readonly schema: S;
  private readonly options: Required<Omit<LowdbOptions, 'heap'>>;
  private readonly lock: FolderLock;
  private readonly transactionOf: (session: LowdbUnitOfWork) => Transaction<S>;
  private readonly adapter: JournaledAdapter;
  private readonly db: Low<Data>;
  private readonly mutex = new Semaphore(1);
  private readonly feed: ChangeFeed<S>;
  private readonly listeners = new Set<WorkListener>();
  private readonly closing = new AbortController();
  private readonly time: JobClock;
  private readonly readViews = new Set<ReadView>();
  private readonly heap: HeapWatch;
  private usage: StorageUsage;
  private state: State;
  private queue: JobQueues;
  /** Transactions that wrote. */
  private written = 0;
  /** The transaction whose function runs now. */
  private session: LowdbUnitOfWork | null = null;
  private outage: string | null = null;
  /** In steady milliseconds. */
  private outageBegan: number | null = null;
  private healing: Promise<void> | null = null;
  private snapshot: Promise<void> | null = null;
  private snapshotNotBefore = 0;
  private closed: Promise<void> | null = null;

  private constructor(schema: S, options: LowdbOptions, lock: FolderLock) {
    this.schema = schema;
    this.options = { ...DEFAULTS, ...options };
    this.lock = lock;
    this.transactionOf = transactionMaker(schema);
    this.feed = new ChangeFeed(this.options.keptChanges);
    this.time = new JobClock(this.options.clock);
    this.state = new State(schema, {});
    this.queue = this.queueOf(this.state);
    const { folder, files, log, holderOf } = this.options;
    this.usage = new StorageUsage(holderOf);
    this.heap = new HeapWatch(log, () => this.usage, options.heap);
    this.adapter = new JournaledAdapter(folder, files, log, {
      durable: (commits) => this.publish(commits),
      failed: (reason) => this.beginOutage(reason),
    });
    this.db = new Low<Data>(this.adapter, {});
  }

  static async open<S extends Schema>(
    schema: S,
    options: LowdbOptions,
    lock: FolderLock,
  ): Promise<LowdbStore<S>> {
    const store = new LowdbStore(schema, options, lock);
    await store.load();
    // Before a snapshot begins: its file would be taken for one that was left half made.
    await tidyFolder(store.options.folder, 0, store.options.files);
    store.heap.start();
    store.watchTransactions();
    store.watchDisk();
    store.snapshotWhenDue();
    return store;
  }

  get fault(): string | null {
    return this.closed === null ? (this.outage ?? this.stall) : 'the store is closed';
  }

  get pressure(): StorePressure {
    return this.heap.pressure;
  }

  async transaction<T>(fn: (tx: Transaction<S>) => Promise<T>): Promise<T> {
    return this.inSession((session) => fn(this.transactionOf(session)));
  }

  async rewrite(change: (document: Document, collection: string) => Document): Promise<void> {
    await this.inSession(async (session) => {
      for (const table of session.state.all()) {
        if (table.name === JOBS) continue;
        for (const document of [...table.everything()]) {
          const changed = change(document, table.name);
          if (changed !== document) await session.put(table.name, changed);
        }
      }
    });
  }

  /**
   * The journal before a snapshot, and the snapshot before that one, are kept: the second one has
   * them removed.
   */
  async forgetHistory(): Promise<void> {
    this.refuseWhenUnavailable();
    while (this.snapshot !== null) await this.snapshot;
    const { folder, files } = this.options;
    const writing = this.makeTwoSnapshots().then(() => files.syncFolder(folder));
    this.snapshot = writing
      .catch(() => {})
      .finally(() => {
        this.snapshot = null;
      });
    await writing;
  }

  async *dump(): AsyncGenerator<DumpedRecord> {
    this.refuseWhenUnavailable();
    const view = await this.mutex.run(() => this.openReadView());
    try {
      // It was written already; now it becomes durable.
      await this.adapter.journal.pending();
      for (const table of view.tables) {
        for (
          let slice = await this.sliceOf(view, table);
          slice !== null;
          slice = await this.sliceOf(view, table)
        ) {
          const wallMs = this.options.clock.now().getTime();
          for (const document of slice) yield dumped(table.name, document, wallMs);
          await nextTurn(); // a reader that never waits would leave no time to anybody else
        }
      }
    } finally {
      this.readViews.delete(view);
    }
  }

  async restore(records: AsyncIterable<DumpedRecord>): Promise<void> {
    this.refuseWhenUnavailable();
    while (this.snapshot !== null) await this.snapshot;
    const restoring = this.mutex.run(() => this.takeIn(records));
    // What would write a snapshot, or read everything again from the disk, waits for this one.
    this.snapshot = restoring
      .catch(() => {})
      .finally(() => {
        this.snapshot = null;
      });
    await restoring;
  }

  /** Between transactions, so that it never sees half of one. */
  async claim(request: ClaimRequest): Promise<readonly Job[]> {
    this.refuseWhenUnavailable();
    return this.mutex.run(() => {
      this.refuseInOutage();
      return this.queue.claim({ ...request, now: this.time.now() });
    });
  }

  async msUntilDue(
    queue: string,
    skip: (group: string) => boolean = () => false,
    places?: SharedPlaces,
  ): Promise<number | null> {
    this.refuseWhenUnavailable();
    return this.mutex.run(() => {
      this.refuseInOutage();
      const dueAt = this.queue.nextDueAt(queue, skip, places);
      return dueAt === null ? null : Math.max(0, dueAt - this.time.now());
    });
  }

  changes(options: { since?: string; signal: AbortSignal }): AsyncIterable<Change<S> | Gap> {
    return this.feed.read(options);
  }

  onWork(call: () => void, queue?: string): () => void {
    // An object of its own, so that the same function can be added twice.
    const listener = { call, queue };
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async stats(skip: (queue: string, group: string) => boolean = () => false): Promise<StoreStats> {
    return { queues: this.queue.stats(this.time.now(), skip), files: this.adapter.stats };
  }

  close(): Promise<void> {
    this.closed ??= this.shutDown();
    return this.closed;
  }

  private openReadView(): ReadView {
    this.refuseInOutage();
    const view = new ReadView(this.state);
    this.readViews.add(view);
    return view;
  }

  /** Between transactions, as for a snapshot. */
  private async sliceOf(
    { state }: ReadView,
    table: TableView,
  ): Promise<readonly Document[] | null> {
    const slice = await this.mutex.run(() => table.slice());
    if (this.isGone || this.state !== state)
      throw new StoreUnavailable(this.fault ?? 'the store was read again from disk meanwhile');
    return slice;
  }

  private async takeIn(records: AsyncIterable<DumpedRecord>): Promise<void> {
    this.refuseInOutage();
    await this.adapter.journal.pending();
    const taken = [...this.state.all()].find((table) => table.lastId !== undefined);
    const { folder, files } = this.options;
    if (taken !== undefined)
      throw new StoreNotEmpty(`The data folder ${folder} is not empty: it holds ${taken.name}.`);
    const restored = new Restoring(this.schema, this.time);
    try {
      await this.adapter.writeFrom(restored.lines(records));
    } catch (error) {
      if (error === restored.failure || error instanceof StoreUnavailable) throw error;
      throw new StoreUnavailable(`the data folder cannot be written: ${inWords(error)}`, {
        cause: error,
      });
    }
    const queue = this.queueOf(restored.state);
    for (const job of restored.state.jobs.everything())
      queue.place(job as StoredJob, restored.dueAt.get(job.id)!);
    this.db.data = restored.data;
    this.state = restored.state;
    this.usage = new StorageUsage(this.options.holderOf, restored.state);
    this.queue = queue;
    // An empty store's journals must not be what a start falls back to.
    await tidyFolder(folder, this.adapter.journal.position.generation, files).catch(() => {});
    this.feed.skip();
    this.callListeners();
  }

  private async inSession<T>(fn: (session: LowdbUnitOfWork) => Promise<T>): Promise<T> {
    this.refuseWhenUnavailable();
    const { outcome, durable } = await this.mutex.run(() => this.runTransaction(fn));
    if (durable !== null) await durable;
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }

  private async runTransaction<T>(fn: (session: LowdbUnitOfWork) => Promise<T>): Promise<Ended<T>> {
    this.refuseInOutage();
    const session = new LowdbUnitOfWork(this.state, this.time);
    this.session = session;
    const outcome = await settle(() => fn(session));
    session.end();
    if (outcome.status === 'rejected') session.rollBack();
    this.session = null;
    this.refuseInOutage();
    if (session.state !== this.state)
      throw new StoreUnavailable('the store was read again from disk meanwhile');
    return { outcome, durable: this.commit(session) };
  }

  /**
   * @returns when what it read or wrote is durable; null: it is. It need not wait for what others
   * write elsewhere.
   */
  private commit(session: LowdbUnitOfWork): Promise<void> | null {
    const { writes } = session;
    if (writes.length === 0) return session.readsDurable;
    for (const { table, before } of writes)
      if (table.name === JOBS && before !== undefined) this.queue.withdraw(before as Job);
    const lastWrite = { order: ++this.written, durable: this.adapter.journal.append(writes) };
    for (const { table } of writes) table.lastWrite = lastWrite;
    for (const view of this.readViews) view.note(writes);
    this.usage.note(writes);
    this.heap.note(writes.reduce((sum, { json }) => sum + json.length, 0));
    return lastWrite.durable;
  }

  /**
   * What became durable is shown to others: to the queue, to the readers of the feed, to the
   * listeners.
   */
  private publish(commits: readonly (readonly Write[])[]): void {
    const queues = new Set<string>();
    for (const { table, id, after, dueAt } of commits.flat()) {
      if (table.name !== JOBS) this.feed.publish(table.name, id, after ?? null);
      else if (after === undefined) this.queue.forget(id);
      else {
        this.queue.place(after as StoredJob, dueAt!);
        queues.add((after as StoredJob).queue);
      }
    }
    this.feed.announce();
    if (queues.size > 0) this.callListeners((queue) => queues.has(queue));
    this.snapshotWhenDue();
  }

  private callListeners(isWanted: (queue: string) => boolean = () => true): void {
    for (const { call, queue } of this.listeners) {
      try {
        if (queue === undefined || isWanted(queue)) call();
      } catch (error) {
        this.options.log.error(`a work listener failed: ${inWords(error)}`);
      }
    }
  }

  /** Reads everything from disk and puts it in place of what was in memory. */
  private async load(): Promise<void> {
    await this.db.read();
    const state = new State(this.schema, this.db.data);
    const queue = this.queueOf(state);
    for (const each of state.jobs.everything()) {
      const job = each as StoredJob;
      queue.place(job, this.queue.dueAtOf(job) ?? this.time.restore(job));
    }
    queue.adopt(this.queue, this.outageBegan === null ? 0 : this.time.now() - this.outageBegan);
    this.state = state;
    this.usage = new StorageUsage(this.options.holderOf, state);
    this.queue = queue;
  }

  private queueOf(state: State): JobQueues {
    const committed = (id: string) =>
      this.session?.state === state ? this.session.committed(state.jobs, id) : state.jobs.get(id);
    return new JobQueues((job) => committed(job.id) === job);
  }

  private beginOutage(reason: string): void {
    this.outage = reason;
    this.adapter.giveUpSnapshot();
    this.outageBegan = this.time.now();
    this.options.log.error(`${reason}; nothing can be written until this works again`);
    this.healing = this.heal().finally(() => {
      this.healing = null;
    });
  }

  private async heal(): Promise<void> {
    await this.snapshot;
    // What is there is not on the disk in part; it must not take memory beside what is read again
    // either.
    this.state = new State(this.schema, {});
    this.db.data = {};
    while (!this.closing.signal.aborted) {
      try {
        await this.load();
        this.outage = null;
        this.outageBegan = null;
        this.options.log.info('the store can write again');
        this.callListeners();
        return;
      } catch (error) {
        this.outage = `the store cannot write: ${inWords(error)}`;
      }
      await sleep(this.options.retryMs, undefined, {
        ref: false,
        signal: this.closing.signal,
      }).catch(() => {});
    }
  }

  private snapshotWhenDue(): void {
    const { adapter, options } = this;
    if (this.snapshot !== null || this.isGone || performance.now() < this.snapshotNotBefore) return;
    if (
      adapter.journalBytesSinceSnapshot <
      Math.max(options.snapshotAfterBytes, adapter.lastSnapshotBytes)
    )
      return;
    this.snapshot = this.writeSnapshot().finally(() => {
      this.snapshot = null;
    });
  }

  /** Without one the store goes on as well: the journals are all there and only grow. */
  private async writeSnapshot(): Promise<void> {
    try {
      await this.makeSnapshot();
    } catch (error) {
      if (!this.isGone) this.options.log.error(`no snapshot could be written: ${inWords(error)}`);
      this.snapshotNotBefore = performance.now() + this.options.snapshotRetryMs;
    }
  }

  private async makeSnapshot(): Promise<void> {
    try {
      await this.db.write();
    } catch (error) {
      // By name: it may come from another thread.
      const { name, file, position } = error as StoreDamaged;
      if (name !== 'StoreDamaged') throw error;
      this.options.log.error(
        `${file} was damaged at byte ${position} while the store was open, and a start would be refused; everything is in memory, of which a snapshot is made now`,
      );
      await this.adapter.writeFrom(linesOf(this.dump()));
    }
  }

  private async makeTwoSnapshots(): Promise<void> {
    await this.makeSnapshot();
    this.refuseWhenUnavailable();
    await this.makeSnapshot();
  }

  /** Closed, or in an outage: what is in memory counts no more. */
  private get isGone(): boolean {
    return this.closed !== null || this.outage !== null;
  }

  /**
   * Why nothing more is taken although nothing has failed: what was committed does not get onto the
   * disk.
   */
  private get stall(): string | null {
    const { waitingMs } = this.adapter;
    if (waitingMs < this.options.stalledAfterMs) return null;
    return `the disk has not confirmed a write for ${Math.floor(waitingMs / 1000)} seconds; see whether it hangs, or the network that it is on`;
  }

  /** Says so when a transaction's function does not end: all others wait behind it. */
  private watchTransactions(): void {
    let seen: LowdbUnitOfWork | null = null;
    this.every(WATCH_MS, () => {
      if (this.session !== null && this.session === seen) {
        this.options.log.error(
          'a transaction has run for 10 s and all others wait; its function must use the transaction alone and begin no other',
        );
      }
      seen = this.session;
    });
  }

  private watchDisk(): void {
    let hasStalled = false;
    this.every(Math.min(WATCH_MS, this.options.stalledAfterMs), () => {
      const { stall } = this;
      if (stall !== null && !hasStalled)
        this.options.log.error(`nothing more is written or read: ${stall}`);
      if (stall === null && hasStalled) this.options.log.info('the disk confirms writes again');
      hasStalled = stall !== null;
    });
  }

  private every(ms: number, call: () => void): void {
    const timer = setInterval(call, ms).unref();
    this.closing.signal.addEventListener('abort', () => clearInterval(timer));
  }

  private async shutDown(): Promise<void> {
    this.adapter.giveUpSnapshot();
    await this.mutex.run(() => {});
    await this.adapter.journal.pending()?.catch(() => {});
    this.closing.abort();
    this.heap.close();
    await this.snapshot;
    await this.healing;
    await this.adapter.close();
    this.feed.close();
    await this.lock.release();
  }

  private refuseWhenUnavailable(): void {
    if (this.closed !== null) throw new StoreUnavailable('the store is closed');
    this.refuseInOutage();
    if (this.stall !== null) throw new StoreUnavailable(this.stall);
  }

  private refuseInOutage(): void {
    if (this.outage !== null) throw new StoreUnavailable(this.outage);
  }
}

const settle = async <T>(fn: () => Promise<T>): Promise<PromiseSettledResult<T>> => {
  try {
    return { status: 'fulfilled', value: await fn() };
  } catch (reason) {
    return { status: 'rejected', reason };
  }
};

async function* linesOf(records: AsyncIterable<DumpedRecord>): AsyncGenerator<string> {
  for await (const record of records) {
    const [collection, document] =
      'job' in record ? [JOBS, record.job] : [record.collection, record.document];
    yield snapshotLine(collection, JSON.stringify(document));
  }
}
