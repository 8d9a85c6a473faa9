const FIRST_CAPACITY = 1024;

/**
 * Bytes gathered up to a limit, in one growing buffer: a body in a million small chunks costs no
 * more than its bytes.
 */
export class BoundedBody {
  #buffer = Buffer.alloc(0);
  #length = 0;
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** @returns false when the chunk exceeds the limit; then only the part that fits is kept */
  append(chunk: Buffer): boolean {
    const fitting = Math.min(chunk.length, this.maxBytes - this.#length);
    this.#reserve(this.#length + fitting);
    chunk.copy(this.#buffer, this.#length, 0, fitting);
    this.#length += fitting;
    return fitting === chunk.length;
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #reserve(needed: number) {
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(
      Math.max(needed, Math.min(this.maxBytes, Math.max(FIRST_CAPACITY, 2 * this.#buffer.length))),
    );
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}
