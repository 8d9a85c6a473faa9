import { randomUUID } from 'node:crypto';
import { ChangeFeed } from '../changeFeed.ts';
import type { Change, Document, Gap, Schema } from '../store.ts';
import { runOn, type Database, type Result } from './database.ts';
import { quoted } from './sql.ts';

/** How often the table is looked at although nobody said that something has changed. */
const LOOK_MS = 1_000;
const BATCH = 2_000;
/** ChangeReader are kept for so long. */
const KEPT_SECONDS = 300;
/** Who has not looked for so long may have missed some. */
const MISSED_AFTER_MS = (KEPT_SECONDS - 60) * 1000;
const CLOCK = '(extract(epoch FROM clock_timestamp()) * 1000)::float8';

/**
 * Feeds the change feed of this process: the one reader of the table `changes`. It remembers the
 * snapshot that it saw last, and reads what has become visible since: one that commits late is not
 * passed over, and nobody waits for one that lasts, of whomever on the server.
 */
export class ChangeReader<S extends Schema> {
  readonly #database: Database;
  readonly #schema: string;
  readonly #isDown: () => boolean;
  readonly #onTime: (now: number) => void;
  readonly #feed: ChangeFeed<S>;
  /** Transactions of this process that have committed and are not in the feed yet. */
  readonly #unread = new Set<string>();
  /** The server's word for which transactions had ended when it looked last. */
  #seen = '';
  #life: string | null = null;
  #lookedAt = performance.now();
  /**
   * The same by the database's clock, which goes on while this machine sleeps: the steady one does
   * not. In milliseconds since the epoch.
   */
  #seenAt = 0;
  #looking: Promise<void> | null = null;
  #lookAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /**
   * @param isDown during an outage nothing is told: whoever heard of it could not read it yet
   * @param onTime told what the database's clock says, in milliseconds since the epoch, at each
   * look
   */
  constructor(
    database: Database,
    schema: string,
    kept: number,
    isDown: () => boolean,
    onTime: (now: number) => void,
  ) {
    this.#isDown = isDown;
    this.#onTime = onTime;
    this.#database = database;
    this.#schema = schema;
    this.#feed = new ChangeFeed(kept);
  }

  /** Begins behind what there is now. */
  async start(): Promise<void> {
    await this.#begin();
    this.#timer = setInterval(() => this.look(), LOOK_MS).unref();
  }

  /**
   * A transaction of this process has committed; what begins to follow from now on does not care
   * for it.
   */
  committed(xid: string): void {
    this.#unread.add(xid);
    this.look();
  }

  /** Another one after each crash of the server; null: to be found out. */
  get life(): string | null {
    return this.#life;
  }

  /** How many transactions of this process it still waits for. */
  get awaited(): number {
    return this.#unread.size;
  }

  /** Something may have changed. */
  look(): void {
    if (this.#closed || this.#isDown()) return;
    if (this.#looking !== null) {
      this.#lookAgain = true;
      return;
    }
    this.#looking = this.#read()
      // the store finds out by itself that the database is gone; the next look catches up
      .catch(() => {})
      .finally(() => {
        this.#looking = null;
        if (this.#lookAgain) {
          this.#lookAgain = false;
          this.look();
        }
      });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#feed.close();
    await this.#looking;
  }

  /** Removes what every reader has had the time to see. */
  async sweep(): Promise<void> {
    await runOn(this.#database, {
      text: `DELETE FROM ${quoted(this.#schema)}.changes WHERE at < now() - interval '${KEPT_SECONDS} seconds'`,
    });
  }

  /** Begins to count from the moment of the call, not from the first reading. */
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
    this.#lookedAt = performance.now();
  }

  async #read(): Promise<void> {
    const startedAt = performance.now();
    if (this.#life === null || startedAt - this.#lookedAt > MISSED_AFTER_MS) return this.#missed();
    const changes = `${quoted(this.#schema)}.changes`;
    let until: string | null = null;
    let position = '0';
    const missedAt = this.#seenAt + MISSED_AFTER_MS;
    for (;;) {
      // Two versions of a document have positions in their order: whoever wrote the later one had
      // waited for the earlier. They are sorted by a term, or else the plan may read the whole
      // table in the order of positions.
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
      // The server has crashed and thrown the table away; or others have removed some of what was
      // not seen.
      if (rows[0]!.life !== this.#life || this.#seenAt > missedAt) return this.#missed();
      const found = rows.filter((row) => row.xid !== null);
      for (const row of found) this.#publish(row);
      this.#lookedAt = startedAt;
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

  /**
   * All that has ended by then is in the feed now, or has written no document. @param snapshot
   * `xmin:xmax:xip,…`, as PostgreSQL writes it
   */
  #forgetRead(snapshot: string): void {
    const [, xmax = '0', xip = ''] = snapshot.split(':');
    const running = new Set(xip.split(','));
    for (const xid of this.#unread)
      if (BigInt(xid) < BigInt(xmax) && !running.has(xid)) this.#unread.delete(xid);
  }

  async #missed(): Promise<void> {
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
