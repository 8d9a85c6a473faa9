import type { Logger } from 'pino';
import { timestamp, type Clock } from '../domain/clock.ts';
import type { ServiceStore } from '../domain/collections.ts';
import { removeSilentVisitors } from '../domain/operations/removeSilentVisitors.ts';
import { removeUnansweredVisitors } from '../domain/operations/removeUnansweredVisitors.ts';
import { StoreUnavailable } from '../store/store.ts';

export interface RoomMakerOptions {
  readonly store: ServiceStore;
  /** For how long ago somebody wrote: a prudent one, since what was removed cannot be had back. */
  readonly clock: Clock;
  readonly log: Logger;
  readonly isConnected: (contactId: string) => boolean;
}

const LOOK_MS = 1000;
/** Whoever has just written may be about to be answered. */
const ANSWER_MS = 60_000;
/** Whoever has opened the chat may be about to write. */
const WRITE_MS = 10 * 60_000;
/** One step makes about so much of the limit free, so that no more goes than has to. */
const STEP_SHARE = 0.02;
/** What a message takes with its event and deliveries, at least. */
const MESSAGE_BYTES = 3500;

/** While the memory of the store is filled up to a mark, removes visitors who were never answered: a step, then what it brought is measured. */
export class RoomMaker {
  readonly #options: RoomMakerOptions;
  readonly #timer: NodeJS.Timeout;
  #underWay: Promise<void> | null = null;
  #stopped = false;
  /** When the last step ended: the next waits for what was measured since. */
  #seen = -1;

  constructor(options: RoomMakerOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#underWay;
  }

  #look(): void {
    const { pressure } = this.#options.store;
    if (pressure === null || pressure.refuses === 'nothing' || pressure.measurement === this.#seen || this.#underWay !== null || this.#stopped) return;
    this.#underWay = this.#makeRoom(pressure.limitBytes).finally(() => {
      this.#underWay = null;
    });
  }

  async #makeRoom(limitBytes: number): Promise<void> {
    const { store, clock, log, isConnected } = this.#options;
    const ago = (ms: number) => timestamp(new Date(clock.now().getTime() - ms));
    try {
      const silent = await removeSilentVisitors({ store }, ago(WRITE_MS));
      const mostMessages = Math.ceil((limitBytes * STEP_SHARE) / MESSAGE_BYTES);
      const { conversations, messages, events } = await removeUnansweredVisitors({ store }, { before: ago(ANSWER_MS), mostMessages, isConnected });
      if (silent + conversations > 0) {
        log.warn({ silent, conversations, messages, events }, 'the memory is full: visitors of the chat who never wrote, and conversations that were never answered, were removed, the oldest first');
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) log.error({ err: error }, 'no room could be made; it is tried again');
    }
    this.#seen = store.pressure?.measurement ?? -1;
  }
}
