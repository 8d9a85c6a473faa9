import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../clockAndLog.ts';
import { runOn, type Database } from './connection/database.ts';
import { inWords, isOutage } from './connection/errors.ts';
import type { DueGroup } from './jobs/jobWrites.ts';
import type { GroupLeases } from './jobs/groupLeases.ts';
import type { Load } from './jobs/leaseBalance.ts';

/** Notifications of transactions within this time are sent as one. */
const GATHER_MS = 5;
/** How long a notification waits until leases are offered. */
const OFFER_MS = 200;

/** A message from one process to the others. */
export interface Notification {
  readonly from: string;
  /** Documents have changed. */
  readonly changed: boolean;
  /** Queues with new work. */
  readonly queues: readonly string[];
  /** How many groups the sender serves. */
  readonly load?: Load;
}

interface ChangeNotificationsOptions {
  readonly database: Database;
  readonly schema: string;
  /** Names this process while it runs. */
  readonly instance: string;
  readonly log: Logger;
  readonly leases: Pick<GroupLeases, 'offer'>;
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
  #gathered: { readonly queues: Set<string>; readonly leases: DueGroup[] } | null = null;
  readonly #toOffer: DueGroup[] = [];
  #offering: Promise<void> | null = null;
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

  /**
   * Announces a commit.
   * @param queues those with new work
   * @param leases groups to offer first, because their lease may be about to be removed as empty
   */
  publish(queues: ReadonlySet<string>, leases: readonly DueGroup[]): void {
    if (this.#gathered === null) {
      this.#gathered = { queues: new Set(), leases: [] };
      setTimeout(() => void this.flush(), GATHER_MS);
    }
    for (const queue of queues) this.#gathered.queues.add(queue);
    this.#gathered.leases.push(...leases);
  }

  /** Sends a notification that is not about a commit, at once. */
  send(notification: Pick<Notification, 'queues' | 'load'>): void {
    void this.#notify({ changed: false, ...notification });
  }

  /** Sends what was gathered. */
  async flush(): Promise<void> {
    const gathered = this.#gathered;
    this.#gathered = null;
    if (gathered === null) return;
    const { leases, queues } = gathered;
    if (leases.length > 0) await Promise.race([this.#offer(leases), sleep(OFFER_MS)]);
    await this.#notify({ changed: true, queues: [...queues] });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#stop?.();
  }

  /** One at a time: each takes a connection. */
  async #offer(leases: readonly DueGroup[]): Promise<void> {
    this.#toOffer.push(...leases);
    this.#offering ??= (async () => {
      while (this.#toOffer.length > 0) {
        await this.#options.leases
          .offer(this.#toOffer.splice(0))
          .catch((error: unknown) =>
            this.#warn('group leases could not be offered; this is tried again soon', error),
          );
      }
      this.#offering = null;
    })();
    await this.#offering;
  }

  async #notify(notification: Omit<Notification, 'from'>): Promise<void> {
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

/** Any user of the database can send anything on a channel. */
const parse = (payload: string): Notification | null => {
  try {
    const value = JSON.parse(payload) as Partial<Notification> | null;
    return typeof value?.from === 'string' && Array.isArray(value.queues)
      ? (value as Notification)
      : null;
  } catch {
    return null;
  }
};
