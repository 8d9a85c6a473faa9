import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../options.ts';
import { runOn, type Database } from './database.ts';
import { inWords, isOutage } from './errors.ts';
import type { DueGroup } from './jobWrites.ts';
import type { GroupLeases } from './groupLeases.ts';
import type { Load } from './leaseBalance.ts';

/** Notifications of several transactions are told together. */
const GATHER_MS = 5;
/** So long others are told of work after its leases were offered, not before. */
const OFFER_MS = 200;

/** What a process tells the others. */
export interface Notification {
  readonly from: string;
  /** Documents have changed. */
  readonly changed: boolean;
  /** There is work in these. */
  readonly queues: readonly string[];
  /** How much it serves. */
  readonly load?: Load;
}

export interface ChangeNotificationsOptions {
  readonly database: Database;
  readonly schema: string;
  /** This process, as long as it runs. */
  readonly instance: string;
  readonly log: Logger;
  readonly leases: Pick<GroupLeases, 'offer'>;
  /** Then nothing is told. */
  readonly isDown: () => boolean;
  readonly onNotification: (news: Notification) => void;
  /** Called whenever it begins to listen: others may have told something before. */
  readonly onMissed: () => void;
}

/**
 * What the processes on one schema tell each other, by NOTIFY: after a commit that documents have
 * changed and where there is work. Missed news do no harm: everybody looks for themselves every now
 * and then.
 */
export class ChangeNotifications {
  readonly #options: ChangeNotificationsOptions;
  /** Those who have the schema open are known by it too. */
  readonly channel: string;
  #gathered: { readonly queues: Set<string>; readonly leases: DueGroup[] } | null = null;
  readonly #toOffer: DueGroup[] = [];
  #offering: Promise<void> | null = null;
  #stop: (() => Promise<void>) | null = null;
  #isClosed = false;

  constructor(options: ChangeNotificationsOptions) {
    this.#options = options;
    this.channel = `${options.schema}_news`;
  }

  /** @param exclusive to have the schema alone. @throws SchemaInUse, SchemaTaken */
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
   * Something was committed.
   * @param queues there is work in these
   * @param leases to be offered once more before: whoever serves them may just have found nothing,
   * and be about to remove them
   */
  tell(queues: ReadonlySet<string>, leases: readonly DueGroup[]): void {
    if (this.#gathered === null) {
      this.#gathered = { queues: new Set(), leases: [] };
      setTimeout(() => void this.flush(), GATHER_MS);
    }
    for (const queue of queues) this.#gathered.queues.add(queue);
    this.#gathered.leases.push(...leases);
  }

  /** At once, and not of a commit. */
  say(news: Pick<Notification, 'queues' | 'load'>): void {
    void this.#notify({ changed: false, ...news });
  }

  /** Tells what was gathered. */
  async flush(): Promise<void> {
    const news = this.#gathered;
    this.#gathered = null;
    if (news === null) return;
    if (news.leases.length > 0) await Promise.race([this.#offer(news.leases), sleep(OFFER_MS)]);
    await this.#notify({ changed: true, queues: [...news.queues] });
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
            this.#warn('leases could not be offered; they are soon', error),
          );
      }
      this.#offering = null;
    })();
    await this.#offering;
  }

  async #notify(news: Omit<Notification, 'from'>): Promise<void> {
    const { database, instance, isDown } = this.#options;
    if (this.#isClosed || isDown()) return;
    const payload = JSON.stringify({ from: instance, ...news } satisfies Notification);
    await runOn(database, {
      text: 'SELECT pg_notify($1, $2)',
      values: [this.channel, payload],
      name: 'cs_notify',
    }).catch((error: unknown) =>
      this.#warn('other processes could not be told of a change', error),
    );
  }

  #hear(payload: string): void {
    const news = heard(payload);
    if (news !== null && news.from !== this.#options.instance) this.#options.onNotification(news);
  }

  /** An outage is told once, by who finds it out. */
  #warn(what: string, error: unknown): void {
    if (!this.#isClosed && !this.#options.isDown() && !isOutage(error))
      this.#options.log.warn(`${what}: ${inWords(error)}`);
  }
}

/** Anybody who may use the database may say anything on a channel. */
const heard = (payload: string): Notification | null => {
  try {
    const news = JSON.parse(payload) as Partial<Notification> | null;
    return typeof news?.from === 'string' && Array.isArray(news.queues)
      ? (news as Notification)
      : null;
  } catch {
    return null;
  }
};
