import { KeyedSemaphore } from './semaphore.ts';

/** Several keys locked together. */
export interface Lock {
  /** Resolves, and never rejects, when all keys are locked. */
  readonly ready: Promise<void>;
  /** Unlocks the keys, or gives up waiting for them. A second call does nothing. */
  release(): void;
}

/** Runs work on the same key one at a time, in the order in which the locks were requested. */
export class KeyedMutex {
  readonly #keys = new KeyedSemaphore(1);

  /** How many keys are locked. */
  get size(): number {
    return this.#keys.heldKeys;
  }

  /**
   * Requests all keys before it waits for any. The requests of all callers therefore have one
   * order, and two callers never wait for each other.
   */
  lock(keys: Iterable<string>): Lock {
    const requested = [...new Set(keys)].map((key) => ({ key, locked: this.#keys.acquire(key) }));
    let isReleased = false;
    return {
      ready: Promise.all(requested.map(({ locked }) => locked)).then(() => {}),
      release: () => {
        if (isReleased) return;
        isReleased = true;
        for (const { key, locked } of requested) void locked.then(() => this.#keys.release(key));
      },
    };
  }

  /** Runs the function while the key is locked. */
  async run<T>(key: string, fn: () => Promise<T>): Promise<T> {
    await this.#keys.acquire(key);
    try {
      return await fn();
    } finally {
      this.#keys.release(key);
    }
  }
}
