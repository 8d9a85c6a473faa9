/**
 * So many transactions of a process have or want the same document while they hold a connection;
 * the others wait without one.
 */
const MAX_CONNECTED = 3;

/** Too many want this document: to be run again when there is a place. */
export class Crowded extends Error {
  override readonly name = 'Crowded';
  readonly key: string;

  constructor(key: string) {
    super(`${key} is wanted by too many at once`);
    this.key = key;
  }
}

interface Crowd {
  places: number;
  readonly waiting: ((_: undefined) => void)[];
}

/**
 * Who in this process locks which documents. A document that many want, or that a process holds
 * which was stopped, would else take all connections, and whoever wants another document would wait
 * too.
 */
export class Crowds {
  readonly #crowds = new Map<string, Crowd>();

  /** @returns false: there is no place */
  enter(key: string): boolean {
    const crowd = this.#crowds.get(key);
    if (crowd === undefined) this.#crowds.set(key, { places: 1, waiting: [] });
    else if (crowd.places >= MAX_CONNECTED) return false;
    else crowd.places += 1;
    return true;
  }

  /** Resolves with a place, in the order of the calls. */
  async wait(key: string): Promise<void> {
    if (this.enter(key)) return;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#crowds.get(key)!.waiting.push(resolve);
    await promise;
  }

  leave(key: string): void {
    const crowd = this.#crowds.get(key)!;
    const next = crowd.waiting.shift();
    if (next !== undefined) next(undefined);
    else if ((crowd.places -= 1) === 0) this.#crowds.delete(key);
  }
}

/**
 * The places of one transaction. While it waits for one it has no other: two never wait for each
 * other.
 */
export class Place {
  readonly #crowds: Crowds;
  readonly #keys = new Set<string>();

  constructor(crowds: Crowds) {
    this.#crowds = crowds;
  }

  /** @throws Crowded */
  enter(key: string): void {
    if (this.#keys.has(key)) return;
    if (!this.#crowds.enter(key)) throw new Crowded(key);
    this.#keys.add(key);
  }

  /** Between two runs. */
  async wait(key: string): Promise<void> {
    await this.#crowds.wait(key);
    this.#keys.add(key);
  }

  leave(): void {
    for (const key of this.#keys) this.#crowds.leave(key);
    this.#keys.clear();
  }
}
