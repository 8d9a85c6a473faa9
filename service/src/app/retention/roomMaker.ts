import type { Logger } from 'pino';
import { timestamp, type Clock } from '../../platform/clock.ts';
import type { ServiceStore } from '../../store/collections.ts';
import { removeSilentVisitors, removeUnansweredVisitors } from './removeVisitors.ts';
import { StoreUnavailable, type StorePressure } from '../../store/store.ts';

interface RoomMakerOptions {
  readonly store: ServiceStore;
  /** Tells how long ago somebody wrote. It must be monotonic, since removed data does not come back. */
  readonly clock: Clock;
  readonly log: Logger;
  readonly isConnected: (contactId: string) => boolean;
}

const CHECK_EVERY_MS = 1000;
/** A visitor who has just written may still be answered. */
const ANSWER_MS = 60_000;
/** A visitor who has just opened the chat may still write. */
const WRITE_MS = 10 * 60_000;
/** The share of the limit that one step frees, so that no more is removed than necessary. */
const STEP_SHARE = 0.02;
/** How often the log names a refused workspace, and how many at a time. */
const NAME_AGAIN_MS = 3_600_000;
const MAX_NAMED = 10;
/** The least memory that a message takes, with its event and deliveries. */
const MIN_MESSAGE_BYTES = 3500;

/**
 * While the store's memory is filled up to a mark, removes chat visitors who were never answered: one
 * step, then a new measurement. If only the largest workspaces are refused, only their visitors are
 * removed; otherwise those of the largest workspace go first.
 */
export class RoomMaker {
  readonly #options: RoomMakerOptions;
  readonly #timer: NodeJS.Timeout;
  #underWay: Promise<void> | null = null;
  #stopped = false;
  /** The measurement after which the last step ended. The next step waits for a newer one. */
  #lastMeasurement = -1;
  /** When workspaces were named, in steady milliseconds. */
  readonly #named = new Map<string, number>();

  constructor(options: RoomMakerOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#check(), CHECK_EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#underWay;
  }

  #check(): void {
    const { pressure } = this.#options.store;
    if (
      pressure === null ||
      pressure.refuses === 'nothing' ||
      pressure.measurement === this.#lastMeasurement ||
      this.#underWay !== null ||
      this.#stopped
    )
      return;
    this.#underWay = this.#makeRoom(pressure).finally(() => {
      this.#underWay = null;
    });
  }

  async #makeRoom(pressure: StorePressure): Promise<void> {
    const { store, clock, log, isConnected } = this.#options;
    const ago = (ms: number) => timestamp(new Date(clock.now().getTime() - ms));
    try {
      const isLargestOnly =
        pressure.refuses === 'largest' || pressure.refuses === 'visitors_of_largest';
      const all = pressure.holders();
      const workspaces = isLargestOnly ? all.filter((id) => pressure.holdsTooMuch(id)) : all;
      if (isLargestOnly) await this.#logNames(workspaces.slice(0, MAX_NAMED), pressure);
      const silent = await removeSilentVisitors(
        { store },
        ago(WRITE_MS),
        isLargestOnly ? workspaces : undefined,
      );
      const maxMessages = Math.ceil((pressure.limitBytes * STEP_SHARE) / MIN_MESSAGE_BYTES);
      const { conversations, messages, events } = await removeUnansweredVisitors(
        { store },
        { workspaces, before: ago(ANSWER_MS), now: clock.now(), maxMessages, isConnected },
      );
      if (silent + conversations > 0) {
        log.warn(
          { silent, conversations, messages, events },
          'the memory is full: chat visitors who never wrote and conversations that were never answered were removed, the oldest first',
        );
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailable))
        log.error({ err: error }, 'no room could be made; the service tries again');
    }
    this.#lastMeasurement = store.pressure?.measurement ?? -1;
  }

  /** Names refused workspaces in the log. /readyz and /metrics are public, so they name nobody. */
  async #logNames(workspaces: readonly string[], pressure: StorePressure): Promise<void> {
    const now = performance.now();
    for (const id of workspaces) {
      if (now - (this.#named.get(id) ?? -Infinity) < NAME_AGAIN_MS) continue;
      this.#named.set(id, now);
      const workspace = await this.#options.store.transaction((tx) => tx.workspaces.peek(id));
      if (workspace === null) continue;
      const percent = Math.round(pressure.storedShareOf(id) * 100);
      this.#options.log.warn(
        { workspace: workspace.slug, percent },
        'the memory is nearly full and this workspace stores more than is free: what it adds is refused, so that the others can continue',
      );
    }
  }
}
