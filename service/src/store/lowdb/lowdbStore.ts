import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { Low } from 'lowdb';
import { Semaphore } from '../../platform/async/semaphore.ts';
import { ChangeFeed } from '../changeFeed.ts';
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
import { transactionMaker } from '../unitOfWork.ts';
import { WorkListeners } from '../workListeners.ts';
import { JournaledAdapter } from './adapter.ts';
import { inWords } from './errors.ts';
import { tidyFolder, type FolderLock } from './journal/folder.ts';
import { HeapWatch } from './memory/heapWatch.ts';
import { JobClock, type StoredJob } from './jobs/jobClock.ts';
import { JobQueues } from './jobs/jobQueues.ts';
import { DEFAULTS, type LowdbOptions } from './options.ts';
import { ReadView, recordOf, type TableView } from './readView.ts';
import { Restoration } from './snapshots/restore.ts';
import { Snapshots } from './snapshots/snapshots.ts';
import { JOBS, State, type Data } from './state.ts';
import { WordsNotReady } from './table.ts';
import { StorageUsage } from './memory/storageUsage.ts';
import { LowdbUnitOfWork, type Write } from './unitOfWork.ts';

const WATCH_MS = 10_000;

interface Ended<T> {
  readonly outcome: PromiseSettledResult<T>;
  /** Null: everything that was read or written is durable already. */
  readonly durable: Promise<void> | null;
}

/**
 * The embedded store. Transactions run one after the other in memory and are appended to the
 * journal. Once durable, they reach the job queues, the change feed and the listeners. When the
 * disk fails, everything is read again from the files.
 */
export class LowdbStore<S extends Schema> implements Store<S> {
  private readonly schema: S;
  private readonly options: Required<Omit<LowdbOptions, 'heap'>>;
  private readonly lock: FolderLock;
  private readonly transactionOf: (work: LowdbUnitOfWork) => Transaction<S>;
  private readonly adapter: JournaledAdapter;
  private readonly db: Low<Data>;
  private readonly snapshots: Snapshots;
  private readonly mutex = new Semaphore(1);
  private readonly feed: ChangeFeed<S>;
  private readonly listeners: WorkListeners;
  private readonly closing = new AbortController();
  private readonly clock: JobClock;
  private readonly readViews = new Set<ReadView>();
  private readonly heap: HeapWatch;
  private usage: StorageUsage;
  private state: State;
  /** Resolves when the words of all documents read from disk are indexed. Null: not begun. */
  private wordsReady: Promise<void> | null = null;
  private queues: JobQueues;
  /** Counts the transactions that wrote. */
  private written = 0;
  /** The transaction whose function is running. */
  private current: LowdbUnitOfWork | null = null;
  private outage: string | null = null;
  /** In steady milliseconds. */
  private outageBegan: number | null = null;
  private healing: Promise<void> | null = null;
  private closed: Promise<void> | null = null;

  private constructor(schema: S, options: LowdbOptions, lock: FolderLock) {
    this.schema = schema;
    this.options = { ...DEFAULTS, ...options };
    this.lock = lock;
    const { folder, files, log, holderOf, clock, keptChanges } = this.options;
    this.transactionOf = transactionMaker(schema);
    this.feed = new ChangeFeed(keptChanges);
    this.listeners = new WorkListeners(log, clock);
    this.clock = new JobClock(clock);
    this.state = new State(schema, {});
    this.queues = this.newQueues();
    this.usage = new StorageUsage(holderOf);
    this.heap = new HeapWatch(log, () => this.usage, options.heap);
    const events = {
      durable: (commits: readonly (readonly Write[])[]) => this.publish(commits),
      failed: (reason: string) => this.beginOutage(reason),
    };
    this.adapter = new JournaledAdapter({ folder, files, log, events });
    this.db = new Low<Data>(this.adapter, {});
    this.snapshots = new Snapshots({
      db: this.db,
      adapter: this.adapter,
      options: this.options,
      dump: () => this.dump(),
      isGone: () => this.isGone,
    });
  }

  static async open<S extends Schema>(
    schema: S,
    options: LowdbOptions,
    lock: FolderLock,
  ): Promise<LowdbStore<S>> {
    const store = new LowdbStore(schema, options, lock);
    await store.load();
    // Before a snapshot begins, because its temporary file would be removed too.
    await tidyFolder(store.options.folder, 0, store.options.files);
    store.heap.start();
    store.watchTransactions();
    store.watchDisk();
    store.snapshots.startWhenDue();
    return store;
  }

  get fault(): string | null {
    return this.closed === null ? (this.outage ?? this.stall) : 'the store is closed';
  }

  get pressure(): StorePressure {
    return this.heap.pressure;
  }

  async transaction<T>(fn: (tx: Transaction<S>) => Promise<T>): Promise<T> {
    return this.inTransaction((work) => fn(this.transactionOf(work)));
  }

  async rewrite(change: (document: Document, collection: string) => Document): Promise<void> {
    await this.inTransaction(async (work) => {
      for (const table of work.state.all()) {
        if (table.name === JOBS) continue;
        for (const document of [...table.everything()]) {
          const changed = change(document, table.name);
          if (changed !== document) await work.put(table.name, changed);
        }
      }
    });
  }

  async forgetHistory(): Promise<void> {
    this.assertAvailable();
    await this.snapshots.writeTwo(() => this.assertAvailable());
  }

  async *dump(): AsyncGenerator<DumpedRecord> {
    this.assertAvailable();
    const view = await this.mutex.run(() => this.openReadView());
    try {
      // What the view shows may still be on its way to the disk.
      await this.adapter.journal.pending();
      for (const table of view.tables) {
        let slice = await this.sliceOf(view, table);
        while (slice !== null) {
          const wallMs = this.options.clock.now().getTime();
          for (const document of slice) yield recordOf(table.name, document, wallMs);
          await nextTurn(); // lets others run, even when the reader never waits
          slice = await this.sliceOf(view, table);
        }
      }
    } finally {
      this.readViews.delete(view);
    }
  }

  /** Until it ends, no snapshot is written and nothing is read again from the disk. */
  async restore(records: AsyncIterable<DumpedRecord>): Promise<void> {
    this.assertAvailable();
    await this.snapshots.exclusively(() => this.mutex.run(() => this.restoreInto(records)));
  }

  /** Runs between transactions, so that it never sees half of one. */
  async claim(request: ClaimRequest): Promise<readonly Job[]> {
    return this.betweenTransactions(() =>
      this.queues.claim({ ...request, now: this.clock.steadyNow() }),
    );
  }

  async msUntilDue(
    queue: string,
    skip: (group: string) => boolean = () => false,
    places?: SharedPlaces,
  ): Promise<number | null> {
    return this.betweenTransactions(() => {
      const dueAt = this.queues.nextDueAt(queue, skip, places);
      return dueAt === null ? null : Math.max(0, dueAt - this.clock.steadyNow());
    });
  }

  changes(options: { since?: string; signal: AbortSignal }): AsyncIterable<Change<S> | Gap> {
    return this.feed.read(options);
  }

  onWork(call: () => void, queue?: string): () => void {
    return this.listeners.add(call, queue);
  }

  async stats(): Promise<StoreStats> {
    return { queues: this.queues.stats(this.clock.steadyNow()), files: this.adapter.stats };
  }

  close(): Promise<void> {
    this.closed ??= this.shutDown();
    return this.closed;
  }

  private async betweenTransactions<T>(fn: () => T): Promise<T> {
    this.assertAvailable();
    return this.mutex.run(() => {
      this.assertNoOutage();
      return fn();
    });
  }

  private openReadView(): ReadView {
    this.assertNoOutage();
    const view = new ReadView(this.state);
    this.readViews.add(view);
    return view;
  }

  private async sliceOf(
    { state }: ReadView,
    table: TableView,
  ): Promise<readonly Document[] | null> {
    const slice = await this.mutex.run(() => table.slice());
    if (this.isGone || this.state !== state)
      throw new StoreUnavailable(this.fault ?? 'the store was read again from disk');
    return slice;
  }

  private async restoreInto(records: AsyncIterable<DumpedRecord>): Promise<void> {
    this.assertNoOutage();
    await this.adapter.journal.pending();
    const filled = [...this.state.all()].find((table) => table.lastId !== undefined);
    const { folder, files } = this.options;
    if (filled !== undefined)
      throw new StoreNotEmpty(`The data folder ${folder} is not empty: it holds ${filled.name}.`);
    const restored = new Restoration(this.schema, this.clock);
    try {
      await this.adapter.writeFrom(restored.lines(records));
    } catch (error) {
      if (error === restored.failure || error instanceof StoreUnavailable) throw error;
      throw new StoreUnavailable(`the data folder cannot be written: ${inWords(error)}`, {
        cause: error,
      });
    }
    this.db.data = restored.data;
    this.use(restored.state, ({ id }) => restored.dueAt.get(id)!);
    // Otherwise a start could fall back to the journals of the empty store.
    await tidyFolder(folder, this.adapter.journal.position.generation, files).catch(() => {});
    this.feed.skip();
    this.listeners.notify();
  }

  /** @param dueAtOf when a job can be claimed, in steady milliseconds */
  private use(state: State, dueAtOf: (job: StoredJob) => number): void {
    this.state = state;
    this.usage = new StorageUsage(this.options.holderOf, state);
    const queues = this.newQueues();
    for (const job of state.jobs.everything() as Iterable<StoredJob>)
      queues.schedule(job, dueAtOf(job));
    this.queues = queues;
    this.wordsReady = this.options.indexesWords ? this.indexWords(state) : null;
  }

  private async indexWords(state: State): Promise<void> {
    while (this.closed === null && this.state === state && !state.indexWords()) await nextTurn();
  }

  private async inTransaction<T>(fn: (work: LowdbUnitOfWork) => Promise<T>): Promise<T> {
    this.assertAvailable();
    const { outcome, durable } = await this.mutex.run(() => this.runTransaction(fn));
    if (outcome.status === 'rejected' && outcome.reason instanceof WordsNotReady) {
      await (this.wordsReady ??= this.indexWords(this.state));
      return this.inTransaction(fn);
    }
    if (durable !== null) await durable;
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }

  private async runTransaction<T>(fn: (work: LowdbUnitOfWork) => Promise<T>): Promise<Ended<T>> {
    this.assertNoOutage();
    const work = new LowdbUnitOfWork(this.state, this.clock);
    this.current = work;
    const outcome = await settle(() => fn(work));
    work.end();
    if (outcome.status === 'rejected') work.rollBack();
    this.current = null;
    this.assertNoOutage();
    if (work.state !== this.state) throw new StoreUnavailable('the store was read again from disk');
    return { outcome, durable: this.commit(work) };
  }

  /** Resolves when everything that it read or wrote is durable; null when it already is. */
  private commit(work: LowdbUnitOfWork): Promise<void> | null {
    const { writes } = work;
    if (writes.length === 0) return work.readsDurable;
    for (const { table, before } of writes)
      if (table.name === JOBS && before !== undefined) this.queues.withdraw(before as Job);
    const lastWrite = { order: ++this.written, durable: this.adapter.journal.append(writes) };
    for (const { table } of writes) table.lastWrite = lastWrite;
    for (const view of this.readViews) view.note(writes);
    this.usage.note(writes);
    this.heap.note(writes.reduce((sum, { json }) => sum + json.length, 0));
    return lastWrite.durable;
  }

  /** Shows durable transactions to the queues, the change feed and the listeners. */
  private publish(commits: readonly (readonly Write[])[]): void {
    const queues = new Set<string>();
    for (const { table, id, after, dueAt } of commits.flat()) {
      if (table.name !== JOBS) this.feed.publish(table.name, id, after ?? null);
      else if (after === undefined) this.queues.forget(id);
      else {
        this.queues.schedule(after as StoredJob, dueAt!);
        queues.add((after as StoredJob).queue);
      }
    }
    this.feed.announce();
    if (queues.size > 0) this.listeners.notify(queues);
    this.snapshots.startWhenDue();
  }

  /** Reads everything from disk and replaces what was in memory. */
  private async load(): Promise<void> {
    await this.db.read();
    const earlier = this.queues;
    this.use(
      new State(this.schema, this.db.data),
      (job) => earlier.dueAtOf(job) ?? this.clock.resumeWait(job),
    );
    this.queues.adopt(
      earlier,
      this.outageBegan === null ? 0 : this.clock.steadyNow() - this.outageBegan,
    );
  }

  /** The queues ask for the current state: if they held one, an outage could not free it. */
  private newQueues(): JobQueues {
    return new JobQueues((job) => {
      const { current, state } = this;
      const committed =
        current?.state === state
          ? current.committedDocument(state.jobs, job.id)
          : state.jobs.get(job.id);
      return committed === job;
    });
  }

  private beginOutage(reason: string): void {
    this.outage = reason;
    this.adapter.giveUpSnapshot();
    this.outageBegan = this.clock.steadyNow();
    this.options.log.error(`${reason}; nothing can be written until this works again`);
    this.healing = this.heal().finally(() => {
      this.healing = null;
    });
  }

  private async heal(): Promise<void> {
    await this.snapshots.idle();
    // Part of what is in memory is not on the disk. All of it is dropped before the disk is read
    // again, so that memory never holds everything twice.
    this.state = new State(this.schema, {});
    this.db.data = {};
    const { signal } = this.closing;
    while (!signal.aborted) {
      try {
        await this.load();
        this.outage = null;
        this.outageBegan = null;
        this.options.log.info('the store can write again');
        this.listeners.notify();
        return;
      } catch (error) {
        this.outage = `the store cannot write: ${inWords(error)}`;
      }
      await sleep(this.options.retryMs, undefined, { ref: false, signal }).catch(() => {});
    }
  }

  /** Closed, or in an outage: what is in memory is no longer valid. */
  private get isGone(): boolean {
    return this.closed !== null || this.outage !== null;
  }

  /** Why nothing more is accepted while the disk does not confirm a write; null when it does. */
  private get stall(): string | null {
    const { waitingMs } = this.adapter;
    if (waitingMs < this.options.stalledAfterMs) return null;
    return `the disk has not confirmed a write for ${Math.floor(waitingMs / 1000)} seconds; check whether the disk hangs, or the network that it is on`;
  }

  /** Logs a transaction whose function does not end, because all others wait for it. */
  private watchTransactions(): void {
    let seen: LowdbUnitOfWork | null = null;
    this.every(WATCH_MS, () => {
      if (this.current !== null && this.current === seen)
        this.options.log.error(
          'a transaction has run for 10 s and all others wait; its function must use the transaction alone and begin no other',
        );
      seen = this.current;
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
    await this.snapshots.idle();
    await this.healing;
    await this.adapter.close();
    this.feed.close();
    await this.lock.release();
  }

  private assertAvailable(): void {
    if (this.closed !== null) throw new StoreUnavailable('the store is closed');
    this.assertNoOutage();
    if (this.stall !== null) throw new StoreUnavailable(this.stall);
  }

  private assertNoOutage(): void {
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
