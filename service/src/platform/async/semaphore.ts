/** Lets a limited number of callers in at once. The others wait in line. */
export class Semaphore {
  readonly #size: number;
  readonly #waiting: (() => void)[] = [];
  #held = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** Whether nobody holds a place. */
  get isIdle(): boolean {
    return this.#held === 0;
  }

  /** @returns false when no place is free */
  tryAcquire(): boolean {
    if (this.#held === this.#size) return false;
    this.#held += 1;
    return true;
  }

  async acquire(): Promise<void> {
    if (!this.tryAcquire()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  release(): void {
    const next = this.#waiting.shift();
    // The place goes straight to the next caller in line, so that no newcomer can take it.
    if (next === undefined) this.#held -= 1;
    else next();
  }

  async run<T>(fn: () => T | Promise<T>): Promise<T> {
    // No await when a place is free, so that `fn` starts at once.
    if (!this.tryAcquire()) await this.acquire();
    try {
      return await fn();
    } finally {
      this.release();
    }
  }
}

/** A semaphore for each key. A key that nobody holds takes no memory. */
export class KeyedSemaphore {
  readonly #size: number;
  readonly #byKey = new Map<string, Semaphore>();

  /** @param size places for each key */
  constructor(size: number) {
    this.#size = size;
  }

  /** How many keys are held. */
  get heldKeys(): number {
    return this.#byKey.size;
  }

  /** @returns false when no place is free */
  tryAcquire(key: string): boolean {
    return this.#of(key).tryAcquire();
  }

  acquire(key: string): Promise<void> {
    return this.#of(key).acquire();
  }

  release(key: string): void {
    const semaphore = this.#byKey.get(key)!;
    semaphore.release();
    if (semaphore.isIdle) this.#byKey.delete(key);
  }

  #of(key: string): Semaphore {
    let semaphore = this.#byKey.get(key);
    if (semaphore === undefined) this.#byKey.set(key, (semaphore = new Semaphore(this.#size)));
    return semaphore;
  }
}

/** Several keys locked together. */
interface Lock {
  /** Resolves when all keys are locked. Never rejects. */
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
