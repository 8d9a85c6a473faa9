import type { Logger } from '../clockAndLog.ts';
import { runOn, type Database } from './connection/database.ts';
import { inWords, isOutage } from './connection/errors.ts';
import type { DueGroup } from './jobs/jobWrites.ts';

/** Notifications of transactions within this time are sent as one. */
const GATHER_MS = 5;
/** A job that is due later than this is not announced: each process looks again by then. */
const SOON_MS = 3_000;
/** For the groups of a notification. PostgreSQL allows 8,000 bytes for all of its fields. */
const MAX_PAYLOAD_BYTES = 7_000;

/** A message from one process to the others. */
export interface Notification {
  readonly from: string;
  /** Documents have changed. */
  readonly changed?: boolean;
  /** Groups that have jobs due now or soon. */
  readonly added?: readonly DueGroup[];
  /** A dump was restored: everything is new. */
  readonly restored?: boolean;
  /** The queues that the sender works on: sent every second, and as an empty list when it stops. */
  readonly worksOn?: readonly string[];
}

interface ChangeNotificationsOptions {
  readonly database: Database;
  readonly schema: string;
  /** Names this process while it runs. */
  readonly instance: string;
  readonly log: Logger;
  /** The database's time in milliseconds. */
  readonly now: () => number;
  /** During an outage nothing is sent. */
  readonly isDown: () => boolean;
  readonly onNotification: (notification: Notification) => void;
  /** Called whenever listening begins, because notifications may have been missed before. */
  readonly onMissed: () => void;
}

/**
 * Tells the processes on one schema, by NOTIFY after a commit, that documents changed or queues
 * have work. A missed notification does no harm, because each process also looks by itself.
 */
export class ChangeNotifications {
  readonly #options: ChangeNotificationsOptions;
  readonly channel: string;
  /** By queue and group. */
  #unsent: Map<string, DueGroup> | null = null;
  #stop: (() => Promise<void>) | null = null;
  #isClosed = false;

  constructor(options: ChangeNotificationsOptions) {
    this.#options = options;
    this.channel = channelOf(options.schema);
  }

  /**
   * @param exclusive no other process may have the schema open
   * @throws SchemaInUse, SchemaTaken
   */
  async listen(exclusive: boolean): Promise<void> {
    const { database, onMissed } = this.#options;
    this.#stop = await database.listen(
      this.channel,
      (payload) => this.#hear(payload),
      onMissed,
      exclusive,
    );
  }

  /** Announces a commit, soon. */
  publish(added: readonly DueGroup[]): void {
    if (this.#unsent === null) {
      this.#unsent = new Map();
      setTimeout(() => void this.flush(), GATHER_MS);
    }
    const until = this.#options.now() + SOON_MS;
    for (const due of added) {
      const key = JSON.stringify([due.queue, due.group]);
      const earlier = this.#unsent.get(key)?.dueAt ?? Infinity;
      if (due.dueAt < Math.min(until, earlier)) this.#unsent.set(key, due);
    }
  }

  /** Announces at once what waits to be announced. */
  async flush(): Promise<void> {
    const unsent = this.#unsent;
    this.#unsent = null;
    if (unsent === null) return;
    const parts = [...partsOf([...unsent.values()])];
    await this.send({ changed: true, added: parts.shift() });
    for (const added of parts) await this.send({ added });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#stop?.();
  }

  /** Sends a notification at once. */
  async send(notification: Omit<Notification, 'from'>): Promise<void> {
    const { database, instance, isDown } = this.#options;
    if (this.#isClosed || isDown()) return;
    const payload = JSON.stringify({ from: instance, ...notification } satisfies Notification);
    await runOn(database, {
      text: 'SELECT pg_notify($1, $2)',
      values: [this.channel, payload],
      name: 'cs_notify',
    }).catch((error: unknown) =>
      this.#warn(
        'other processes could not be notified of a change; they find it by themselves soon',
        error,
      ),
    );
  }

  #hear(payload: string): void {
    const notification = parse(payload);
    if (notification !== null && notification.from !== this.#options.instance)
      this.#options.onNotification(notification);
  }

  /** An outage is logged once, where it is found. */
  #warn(what: string, error: unknown): void {
    if (!this.#isClosed && !this.#options.isDown() && !isOutage(error))
      this.#options.log.warn(`${what}: ${inWords(error)}`);
  }
}

/** Also the name of the schema lock. Earlier versions use the same name. */
export const channelOf = (schema: string): string => `${schema}_news`;

/** The groups in parts, each of which fits into one notification. There is at least one part. */
function* partsOf(added: readonly DueGroup[]): Generator<readonly DueGroup[]> {
  let part: DueGroup[] = [];
  let bytes = 0;
  for (const due of added) {
    const more = Buffer.byteLength(JSON.stringify(due));
    if (more > MAX_PAYLOAD_BYTES) continue; // each process finds the job by itself
    if (bytes + more > MAX_PAYLOAD_BYTES) {
      yield part;
      [part, bytes] = [[], 0];
    }
    part.push(due);
    bytes += more;
  }
  yield part;
}

const isDueGroup = ({ queue, group, dueAt }: Partial<DueGroup>): boolean =>
  typeof queue === 'string' && typeof group === 'string' && typeof dueAt === 'number';

/** Any user of the database can send anything on a channel. */
const parse = (payload: string): Notification | null => {
  try {
    const value = JSON.parse(payload) as Partial<Notification>;
    const { from, added = [], worksOn = [] } = value;
    const isOurs = typeof from === 'string' && added.every(isDueGroup) && Array.isArray(worksOn);
    return isOurs ? (value as Notification) : null;
  } catch {
    return null;
  }
};
