import { KeyedSemaphore } from '../../work/semaphore.ts';

/** How many transactions of this process may lock the same document, or wait for it, at once. */
const MAX_PER_DOCUMENT = 3;

/** No place is free for this document. The transaction runs again when it has one. */
export class DocumentBusy extends Error {
  override readonly name = 'DocumentBusy';
  readonly key: string;

  constructor(key: string) {
    super(`too many transactions of this process want ${key}`);
    this.key = key;
  }
}

/**
 * Limits the transactions of this process that want the same document. Without a limit,
 * transactions that wait for one popular document, or for one that a stopped process has locked,
 * would take all connections to the database.
 */
export const documentSemaphore = (): KeyedSemaphore => new KeyedSemaphore(MAX_PER_DOCUMENT);

/** The places that one transaction holds. */
export class DocumentPlaces {
  readonly #semaphore: KeyedSemaphore;
  readonly #keys = new Set<string>();

  constructor(semaphore: KeyedSemaphore) {
    this.#semaphore = semaphore;
  }

  /** @throws DocumentBusy */
  take(key: string): void {
    if (this.#keys.has(key)) return;
    if (!this.#semaphore.tryAcquire(key)) throw new DocumentBusy(key);
    this.#keys.add(key);
  }

  /**
   * Waits for a place between two runs. The transaction holds no other place then, so two
   * transactions never wait for each other.
   */
  async waitFor(key: string): Promise<void> {
    await this.#semaphore.acquire(key);
    this.#keys.add(key);
  }

  releaseAll(): void {
    for (const key of this.#keys) this.#semaphore.release(key);
    this.#keys.clear();
  }
}
