import { randomUUID } from 'node:crypto';
import { ChangeFeed } from '../changeFeed.ts';
import type { Change, Document, Gap, Schema } from '../store.ts';
import { runOn, type Database, type Result } from './connection/database.ts';
import { quoted } from './connection/sql.ts';

/** How often the table is read without a notification. */
const POLL_MS = 1_000;
const BATCH = 2_000;
/** How long changes are kept in the table. */
const KEPT_SECONDS = 300;
/** A process that has not read for this long may have missed changes. */
const MISSED_AFTER_MS = (KEPT_SECONDS - 60) * 1000;
const CLOCK = '(extract(epoch FROM clock_timestamp()) * 1000)::float8';

/**
 * Reads the table `changes` into the change feed of this process. It remembers the last snapshot
 * and reads what has become visible since, so that late commits are not missed and long
 * transactions, also of other programs, delay nothing.
 */
export class ChangeReader<S extends Schema> {
  readonly #database: Database;
  readonly #schema: string;
  readonly #isDown: () => boolean;
  readonly #onTime: (now: number) => void;
  readonly #feed: ChangeFeed<S>;
  /** Committed transactions of this process that are not in the feed yet. */
  readonly #unread = new Set<string>();
  /** The snapshot of the last read. */
  #seen = '';
  #life: string | null = null;
  #readAt = performance.now();
  /** The time of the last read by the database's clock, which goes on while this machine sleeps. */
  #seenAt = 0;
  #reading: Promise<void> | null = null;
  #readAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /**
   * @param capacity how many changes the feed keeps
   * @param isDown during an outage nothing is read
   * @param onTime called at each read with the database's clock, in milliseconds since the epoch
   */
  constructor(
    database: Database,
    schema: string,
    capacity: number,
    isDown: () => boolean,
    onTime: (now: number) => void,
  ) {
    this.#database = database;
    this.#schema = schema;
    this.#feed = new ChangeFeed(capacity);
    this.#isDown = isDown;
    this.#onTime = onTime;
  }

  /** Begins after the changes that exist now. */
  async start(): Promise<void> {
    await this.#begin();
    this.#timer = setInterval(() => this.readSoon(), POLL_MS).unref();
  }

  /** Notes a committed transaction of this process. Readers that begin later do not see it. */
  noteCommitted(xid: string): void {
    this.#unread.add(xid);
    this.readSoon();
  }

  /** A value that changes with each crash of the server; null when unknown. */
  get life(): string | null {
    return this.#life;
  }

  /** How many committed transactions of this process are not in the feed yet. */
  get unreadCount(): number {
    return this.#unread.size;
  }

  /** Reads soon, because something may have changed. */
  readSoon(): void {
    if (this.#closed || this.#isDown()) return;
    if (this.#reading !== null) {
      this.#readAgain = true;
      return;
    }
    this.#reading = this.#read()
      // The store notices an outage by itself, and the next read catches up.
      .catch(() => {})
      .finally(() => {
        this.#reading = null;
        if (this.#readAgain) {
          this.#readAgain = false;
          this.readSoon();
        }
      });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#feed.close();
    await this.#reading;
  }

  /** Removes changes that every reader has had time to read. */
  async sweep(): Promise<void> {
    await runOn(this.#database, {
      text: `DELETE FROM ${quoted(this.#schema)}.changes WHERE at < now() - interval '${KEPT_SECONDS} seconds'`,
    });
  }

  /** Starts at the moment of the call, not at the first read. */
  read(options: { since?: string; signal: AbortSignal }): AsyncIterable<Change<S> | Gap> {
    return this.#feed.read(
      options,
      options.since === undefined ? new Set(this.#unread) : undefined,
    );
  }

  async #begin(): Promise<void> {
    const life = `${quoted(this.#schema)}.change_life`;
    await runOn(this.#database, {
      text: `INSERT INTO ${life} (life) VALUES ($1) ON CONFLICT DO NOTHING`,
      values: [randomUUID()],
    });
    const { rows } = await runOn(this.#database, {
      text: `SELECT pg_current_snapshot()::text AS seen, (SELECT life FROM ${life}) AS life, ${CLOCK} AS now`,
    });
    this.#seenAt = Number(rows[0]!.now);
    this.#onTime(this.#seenAt);
    this.#seen = String(rows[0]!.seen);
    this.#life = String(rows[0]!.life);
    this.#readAt = performance.now();
  }

  async #read(): Promise<void> {
    const startedAt = performance.now();
    if (this.#life === null || startedAt - this.#readAt > MISSED_AFTER_MS)
      return this.#beginAfterGap();
    const changes = `${quoted(this.#schema)}.changes`;
    let until: string | null = null;
    let position = '0';
    const missedAt = this.#seenAt + MISSED_AFTER_MS;
    for (;;) {
      // A document's changes are in order of position, because a writer waits for the one before it.
      // `position + 0` keeps the plan from reading the whole table by position.
      const { rows }: Result = await runOn(this.#database, {
        text: `SELECT l.life, l.now, l.until::text AS until, c.xid::text AS xid, c.position::text AS position, c.collection, c.id, c.document
          FROM (SELECT (SELECT life FROM ${quoted(this.#schema)}.change_life) AS life, ${CLOCK} AS now, coalesce($2::pg_snapshot, pg_current_snapshot()) AS until) l LEFT JOIN LATERAL (
            SELECT * FROM (
              SELECT * FROM ${changes} WHERE xid >= pg_snapshot_xmax($1::pg_snapshot)
              UNION ALL SELECT * FROM ${changes} WHERE xid = ANY (ARRAY(SELECT pg_snapshot_xip($1::pg_snapshot)))) fresh
            WHERE pg_visible_in_snapshot(xid, l.until) AND position > $3::bigint ORDER BY position + 0 LIMIT ${BATCH}) c ON true
          ORDER BY c.position`,
        values: [this.#seen, until, position],
        name: 'cs_changes',
      });
      this.#seenAt = Number(rows[0]!.now);
      this.#onTime(this.#seenAt);
      // The server has crashed and emptied the table, or unread changes have been removed.
      if (rows[0]!.life !== this.#life || this.#seenAt > missedAt) return this.#beginAfterGap();
      const found = rows.filter((row) => row.xid !== null);
      for (const row of found) this.#publish(row);
      this.#readAt = startedAt;
      if (found.length > 0) this.#feed.announce();
      until = String(rows[0]!.until);
      if (found.length < BATCH) {
        this.#seen = until;
        this.#forgetRead(until);
        return;
      }
      position = String(found.at(-1)!.position);
    }
  }

  /** @param snapshot `xmin:xmax:xip,…`; the feed has every transaction that had ended by then */
  #forgetRead(snapshot: string): void {
    const [, xmax = '0', xip = ''] = snapshot.split(':');
    const running = new Set(xip.split(','));
    for (const xid of this.#unread)
      if (BigInt(xid) < BigInt(xmax) && !running.has(xid)) this.#unread.delete(xid);
  }

  async #beginAfterGap(): Promise<void> {
    this.#life = null;
    await this.#begin();
    this.#unread.clear();
    this.#feed.skip();
  }

  #publish({ xid, collection, id, document }: Record<string, unknown>): void {
    this.#unread.delete(String(xid));
    this.#feed.publish(String(collection), String(id), document as Document | null, String(xid));
  }
}
