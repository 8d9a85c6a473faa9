import { Batch, RunsAlone } from './batch.ts';
import type { Database } from './connection/database.ts';
import type { Written } from './writes.ts';

/** Two batches at once would be smaller, and cost a fifth more of the server's CPU. */
const MAX_BATCHES = 1;
const MAX_MEMBERS = 64;
/** After this time the next batch starts, even if a slow transaction still holds this one. */
const SLOW_MS = 100;

/**
 * Puts transactions that come together into batches: while a batch is under way, those that come
 * wait for the next one. One that comes alone begins at once.
 */
export class Batches {
  readonly #database: Pick<Database, 'connect'>;
  readonly #commit: (batch: Batch, written: readonly Written[]) => Promise<void>;
  readonly #maxAlone: number;
  #alone = 0;
  #waiting: PromiseWithResolvers<Batch>[] = [];
  #underWay = 0;
  #isScheduled = false;

  /** @param connections how many there are; half of them may wait for locks */
  constructor(
    database: Pick<Database, 'connect'>,
    connections: number,
    commit: (batch: Batch, written: readonly Written[]) => Promise<void>,
  ) {
    this.#database = database;
    this.#maxAlone = Math.floor(connections / 2);
    this.#commit = commit;
  }

  /** A batch with others. */
  join(): Promise<Batch> {
    const turn = Promise.withResolvers<Batch>();
    this.#waiting.push(turn);
    this.#startSoon();
    return turn.promise;
  }

  /**
   * A batch for one transaction, which may wait for locks.
   * @throws RunsAlone when so many run already that the caller has to try again a little later
   */
  async alone(): Promise<Batch> {
    if (this.#alone >= this.#maxAlone) throw new RunsAlone('too many wait for locks');
    this.#alone += 1;
    try {
      return new Batch({
        connection: await this.#database.connect(),
        size: 1,
        isPatient: true,
        commit: this.#commit,
        onEnd: () => (this.#alone -= 1),
      });
    } catch (error) {
      this.#alone -= 1;
      throw error;
    }
  }

  #startSoon(): void {
    if (this.#isScheduled || this.#waiting.length === 0 || this.#underWay >= MAX_BATCHES) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#start(this.#waiting.splice(0, MAX_MEMBERS));
      this.#startSoon();
    });
  }

  async #start(members: readonly PromiseWithResolvers<Batch>[]): Promise<void> {
    this.#underWay += 1;
    let isUnderWay = true;
    const end = () => {
      if (!isUnderWay) return;
      isUnderWay = false;
      clearTimeout(slow);
      this.#underWay -= 1;
      this.#startSoon();
    };
    const slow = setTimeout(end, SLOW_MS);
    try {
      const batch = new Batch({
        connection: await this.#database.connect(),
        size: members.length,
        isPatient: false,
        commit: this.#commit,
        onEnd: end,
      });
      for (const { resolve } of members) resolve(batch);
    } catch (error) {
      end();
      for (const { reject } of members) reject(error);
    }
  }
}
