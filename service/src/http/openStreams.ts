/** How many streams may be open. */
export interface StreamLimits {
  /** By one visitor. */
  readonly perKey: number;
  readonly inAll: number;
}

/**
 * Counts open streams, so that nobody can hold thousands of sockets. Of a visitor who opens one too
 * many, the oldest ends: a connection that has died unseen is among the oldest, and must not keep its
 * visitor out.
 */
export class OpenStreams {
  readonly #limits: StreamLimits;
  /** How to end each, by key, the oldest first. */
  readonly #byKey = new Map<string, Set<() => void>>();
  #count = 0;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * @param end ends this stream, should it be the oldest of too many; it is counted no more by then
   * @returns what to call once it has ended, however; null when there are too many in all
   */
  enter(key: string, end: () => void): (() => void) | null {
    const streams = this.#byKey.get(key) ?? new Set();
    const oldest = streams.size >= this.#limits.perKey ? [...streams][0]! : null;
    if (oldest === null && this.#count >= this.#limits.inAll) return null;
    if (oldest) {
      this.#leave(key, streams, oldest);
      oldest();
    }
    const own = () => end();
    this.#byKey.set(key, streams.add(own));
    this.#count += 1;
    return () => this.#leave(key, streams, own);
  }

  #leave(key: string, streams: Set<() => void>, stream: () => void): void {
    if (!streams.delete(stream)) return;
    this.#count -= 1;
    if (streams.size === 0 && this.#byKey.get(key) === streams) this.#byKey.delete(key);
  }
}
