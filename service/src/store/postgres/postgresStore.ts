import { randomUUID } from 'node:crypto';
import { type Logger, type StoreClock, silent, systemTime } from '../clockAndLog.ts';
import {
  type Change,
  type ClaimRequest,
  type Document,
  type DumpedRecord,
  type Gap,
  type Job,
  type Schema,
  type SharedPlaces,
  type Store,
  type StoreStats,
  type Transaction,
  StoreUnavailable,
} from '../store.ts';
import { WorkListeners } from '../workListeners.ts';
import { Batches } from './batches.ts';
import { Committer, type Committed } from './commit.ts';
import { ChangeNotifications, channelOf, type Notification } from './changeNotifications.ts';
import { ChangeReader } from './changeReader.ts';
import { type Database, runOn, type Result, type Statement } from './connection/database.ts';
import { DatabaseClock } from './connection/databaseClock.ts';
import { inWords, isOutage } from './connection/errors.ts';
import { addMissingWords } from './missingWords.ts';
import { type Migrations, migrate } from './schema/migrations.ts';
import { assertWritable, Outage } from './connection/outage.ts';
import { connectionGuard } from './schema/schemaLock.ts';
import { quoted } from './connection/sql.ts';
import { readTables, type OpenSchema, type Table } from './schema/tables.ts';
import { TransactionRunner } from './connection/transactionRunner.ts';
import { Workers } from './jobs/workers.ts';
import { WorkQueue } from './jobs/workQueue.ts';

export interface PostgresOptions {
  /**
   * `postgres://user:password@host:5432/database`. Tests pass an open database, which is closed
   * with the store.
   */
  readonly database: string | Database;
  /** Contains the tables. Created when missing. */
  readonly schema: string;
  /** By name, applied in the order of names. An applied migration never changes. */
  readonly migrations: Migrations;
  /** The names of all queues. */
  readonly queues: readonly string[];
  /** The most connections, besides one that listens. Default 10. */
  readonly connections?: number;
  /** Whether this process runs jobs, or only adds them as an API process does. Default true. */
  readonly runsJobs?: boolean;
  /** No other process may have the schema open: for commands that need it alone. Default false. */
  readonly exclusive?: boolean;
  /**
   * Called when another process rewrote all documents, so that this store can no longer be used.
   */
  readonly onRewritten?: (error: Error) => void;
  readonly log?: Logger;
  /** The wall clock for the times of jobs. Default: the system's. */
  readonly clock?: StoreClock;
  /** For tests: replaces the database's clock, in milliseconds since the epoch. */
  readonly databaseNow?: () => number;
  /** How many changes a reader can catch up on. Default 10,000. */
  readonly keptChanges?: number;
  /** The most counts of rate limits to keep. When there are more, those that end first go. */
  readonly maxCounts?: number;
  readonly sweepCountsMs?: number;
}

/**
 * How often to check the database, even without requests, because load balancers ask for its state.
 */
const CHECK_MS = 5_000;
/** How often each process tells the others which queues it works on. */
const ANNOUNCE_MS = 1_000;
/** How often to look for jobs that no notification named: among those due lately, and among all. */
const LOOK_BACK_MS = 5_000;
const LOOK_AT_ALL_MS = 60_000;
const SWEEP_CHANGES_MS = 60_000;
const ADD_WORDS_MS = 60_000;
const SWEEP_COUNTS_MS = 300_000;
const COUNTS_KEPT_SECONDS = 300;
/** 240 MB with its index. Beyond that, the counts that end first are removed. */
const MAX_COUNTS = 1_000_000;

export const DEFAULT_CONNECTIONS = 10;

const DEFAULTS = {
  connections: DEFAULT_CONNECTIONS,
  runsJobs: true,
  exclusive: false,
  onRewritten: () => {},
  log: silent,
  clock: systemTime,
  keptChanges: 10_000,
  maxCounts: MAX_COUNTS,
  sweepCountsMs: SWEEP_COUNTS_MS,
};

/** The store on PostgreSQL. @see docs/decisions/0031-postgresql-groups.md */
export class PostgresStore<S extends Schema> implements Store<S> {
  readonly schemaName: string;
  readonly pressure = null;
  readonly #database: Database;
  readonly #options: Required<Omit<PostgresOptions, 'databaseNow' | 'database'>>;
  readonly #opened: OpenSchema;
  readonly #queues: ReadonlySet<string>;
  readonly #time: DatabaseClock;
  readonly #workers: Workers;
  readonly #work: WorkQueue;
  readonly #changes: ChangeReader<S>;
  readonly #outage: Outage;
  readonly #notifications: ChangeNotifications;
  readonly #transactions: TransactionRunner<S>;
  /** Names this process while it runs. */
  readonly #instance = randomUUID();
  readonly #listeners: WorkListeners;
  readonly #running = new Set<Promise<unknown>>();
  /** Aborted at the beginning of `close`, to end what would take long. */
  readonly #stopping = new AbortController();
  readonly #closing = new AbortController();
  #closed: Promise<void> | null = null;

  private constructor(
    schema: S,
    database: Database,
    options: PostgresOptions,
    tables: ReadonlyMap<string, Table>,
    time: DatabaseClock,
  ) {
    this.#database = database;
    this.schemaName = options.schema;
    this.#options = { ...DEFAULTS, ...options };
    this.#listeners = new WorkListeners(this.#options.log, this.#options.clock);
    this.#queues = new Set(options.queues);
    this.#time = time;
    this.#opened = {
      database,
      schemaName: options.schema,
      tables,
      queues: this.#queues,
      nowSql: time.sql,
      clock: this.#options.clock,
      exclusiveLock: this.#options.exclusive ? channelOf(options.schema) : null,
    };
    this.#workers = new Workers(this.#instance);
    this.#work = new WorkQueue({
      database,
      schema: options.schema,
      time,
      workers: this.#workers,
      instance: this.#instance,
    });
    this.#outage = new Outage(database, this.#options.log, () => this.#catchUp());
    this.#changes = new ChangeReader(
      database,
      options.schema,
      this.#options.keptChanges,
      () => this.#outage.reason !== null,
      (now) => time.learn(now),
    );
    const committer = new Committer({
      ...this.#opened,
      time,
      changes: this.#changes,
      onCommitted: (committed) => this.#publish(committed),
    });
    this.#transactions = new TransactionRunner({
      ...this.#opened,
      schema,
      outage: this.#outage,
      batches: new Batches(database, this.#options.connections, (batch, written) =>
        committer.commit(batch, written),
      ),
    });
    this.#notifications = new ChangeNotifications({
      database,
      schema: options.schema,
      instance: this.#instance,
      log: this.#options.log,
      now: () => time.estimate,
      isDown: () => this.#outage.reason !== null,
      onNotification: (notification) => this.#hear(notification),
      onMissed: () => this.#catchUp(),
    });
  }

  static async open<S extends Schema>(
    schema: S,
    database: Database,
    options: PostgresOptions,
  ): Promise<PostgresStore<S>> {
    await assertWritable(database);
    await migrate(database, options.schema, options.migrations);
    const tables = await readTables(database, options.schema, schema);
    const time = new DatabaseClock(options.databaseNow);
    const store = new PostgresStore(schema, database, options, tables, time);
    await store.#start();
    return store;
  }

  get fault(): string | null {
    return this.#closed === null ? this.#outage.reason : 'the store is closed';
  }

  async transaction<T>(fn: (tx: Transaction<S>) => Promise<T>): Promise<T> {
    return this.#tracked(async () => {
      this.#time.sync(this.#database);
      return this.#transactions.run(fn);
    });
  }

  async claim(request: ClaimRequest): Promise<readonly Job[]> {
    return this.#ask(() => this.#work.claim(request));
  }

  async msUntilDue(
    queue: string,
    skip: (group: string) => boolean = () => false,
    places?: SharedPlaces,
  ): Promise<number | null> {
    return this.#ask(() => this.#work.msUntilDue(queue, skip, places));
  }

  changes(options: { since?: string; signal: AbortSignal }): AsyncIterable<Change<S> | Gap> {
    return this.#changes.read(options);
  }

  onWork(call: () => void, queue?: string): () => void {
    const remove = this.#listeners.add(call, queue);
    if (queue !== undefined) this.#workers.join(queue);
    return () => {
      if (remove() && queue !== undefined && !this.#listeners.listensTo(queue)) this.#leave(queue);
    };
  }

  /** Empty while the database cannot be reached. */
  async stats(): Promise<StoreStats> {
    if (this.fault !== null) return { queues: {}, files: null };
    this.#time.sync(this.#database);
    return { queues: await this.#outage.watch(() => this.#work.stats()), files: null };
  }

  async rewrite(change: (document: Document, collection: string) => Document): Promise<void> {
    const { rewriteAll } = await import('./rewrite.ts');
    await this.#ask(() => rewriteAll(this.#opened, change));
    this.#changes.readSoon();
  }

  async forgetHistory(): Promise<void> {
    const { vacuumAll } = await import('./rewrite.ts');
    await this.#ask(() => vacuumAll(this.#database, this.schemaName));
  }

  async *dump(): AsyncGenerator<DumpedRecord> {
    this.#refuseWhenUnavailable();
    this.#time.sync(this.#database);
    const { dumpAll } = await import('./dump.ts');
    yield* dumpAll(this.#opened);
  }

  async restore(records: AsyncIterable<DumpedRecord>): Promise<void> {
    const { restoreAll } = await import('./restore.ts');
    await this.#tracked(async () => {
      this.#time.sync(this.#database);
      await restoreAll(this.#opened, records);
      this.#catchUp();
      await this.#notifications.send({ changed: true, restored: true });
    });
  }

  /**
   * Runs a statement on a table that is no collection's, and again if its connection is cut.
   * @throws StoreUnavailable
   */
  runStatement(statement: Statement): Promise<Result> {
    return this.#ask(() => runOn(this.#database, statement));
  }

  close(): Promise<void> {
    this.#closed ??= this.#shutDown();
    return this.#closed;
  }

  async #start(): Promise<void> {
    await this.#changes.start();
    await this.#notifications.listen(this.#options.exclusive);
    if (!this.#options.exclusive)
      this.#database.setGuard(
        await connectionGuard(
          this.#database,
          this.schemaName,
          this.#notifications.channel,
          this.#options.onRewritten,
        ),
      );
    this.#every(CHECK_MS, () => this.#outage.check());
    if (!this.#options.runsJobs) return;
    this.#atOnceAndEvery(ANNOUNCE_MS, () => this.#announce());
    this.#every(LOOK_BACK_MS, async () => this.#work.lookBack());
    this.#every(LOOK_AT_ALL_MS, async () => this.#work.lookAgain());
    this.#every(SWEEP_CHANGES_MS, () => this.#changes.sweep());
    this.#every(this.#options.sweepCountsMs, () => this.#sweepCounts());
    this.#atOnceAndEvery(ADD_WORDS_MS, () => this.#addMissingWords());
  }

  /** Again and again, because a process of an earlier version may still write rows without words. */
  #addMissingWords(): Promise<void> {
    const { tables } = this.#opened;
    return this.#tracked(() =>
      addMissingWords(this.#database, tables.values(), this.#stopping.signal),
    );
  }

  /** Removes counts that ended a while ago and, when there are too many, those that end first. */
  async #sweepCounts(): Promise<void> {
    const counts = `${quoted(this.schemaName)}.counts`;
    const ended = `expire < (extract(epoch FROM now()) - ${COUNTS_KEPT_SECONDS}) * 1000`;
    await runOn(this.#database, { text: `DELETE FROM ${counts} WHERE ${ended}` });
    const tooMany = `greatest(0, (SELECT count(*) FROM ${counts}) - ${this.#options.maxCounts})`;
    const first = `SELECT key FROM ${counts} ORDER BY expire LIMIT ${tooMany}`;
    await runOn(this.#database, { text: `DELETE FROM ${counts} WHERE key IN (${first})` });
  }

  /** Shows what is durable to the workers, to the change feed and to other processes. */
  #publish({ xid, added }: Committed): void {
    this.#work.noteAdded(added);
    this.#changes.noteCommitted(xid);
    this.#notifications.publish(added);
    if (added.length > 0) this.#listeners.notify(new Set(added.map(({ queue }) => queue)));
  }

  #hear({ from, changed, added = [], restored, worksOn }: Notification): void {
    if (this.#closed !== null) return;
    if (worksOn !== undefined) this.#workers.hear(from, worksOn);
    if (restored) this.#catchUp();
    else if (changed) this.#changes.readSoon();
    const queues = this.#work.noteAdded(added);
    if (queues.size > 0) this.#listeners.notify(queues);
  }

  /** Looks for changes and work that were missed, as after an outage. */
  #catchUp(): void {
    if (this.#closed !== null) return;
    this.#changes.readSoon();
    this.#work.lookAgain();
    this.#listeners.notify(this.#queues);
  }

  /** Lets other processes take over a queue's work at once. */
  #leave(queue: string): void {
    this.#workers.leave(queue);
    this.#work.leave(queue);
    if (this.#options.runsJobs) void this.#announce();
  }

  /** Tells the other processes what this one works on. */
  #announce(): Promise<void> {
    const worksOn = [...this.#queues].filter((queue) => this.#workers.worksOn(queue));
    return this.#notifications.send({ worksOn });
  }

  /** Asks the database, and again when only the connection was cut. */
  #ask<T>(fn: () => Promise<T>): Promise<T> {
    return this.#tracked(() => {
      this.#time.sync(this.#database);
      return this.#outage.watch(fn);
    });
  }

  /** Runs `fn`, which `close` waits for. */
  async #tracked<T>(fn: () => Promise<T>): Promise<T> {
    this.#refuseWhenUnavailable();
    const running = fn();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  #refuseWhenUnavailable(): void {
    if (this.fault !== null) throw new StoreUnavailable(this.fault);
  }

  #atOnceAndEvery(ms: number, call: () => Promise<void>): void {
    this.#maintain(call);
    this.#every(ms, call);
  }

  #maintain(call: () => Promise<void>): void {
    if (this.fault !== null) return;
    call().catch((error: unknown) => {
      if (!isOutage(error))
        this.#options.log.warn(`maintenance of the store failed: ${inWords(error)}`);
    });
  }

  #every(ms: number, call: () => Promise<void>): void {
    const timer = setInterval(() => this.#maintain(call), ms).unref();
    this.#closing.signal.addEventListener('abort', () => clearInterval(timer));
  }

  async #shutDown(): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled(this.#running);
    this.#closing.abort();
    this.#outage.close();
    if (this.#outage.reason === null) {
      await this.#notifications.flush();
      if (this.#options.runsJobs) {
        await this.#work.giveBackAll().catch(() => {}); // then the leases run out
        await this.#notifications.send({ worksOn: [] });
      }
    }
    await this.#changes.close();
    await this.#notifications.close();
    await this.#database.close();
  }
}
