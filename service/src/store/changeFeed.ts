import { randomUUID } from 'node:crypto';
import type { Change, Document, Gap, Schema } from './store.ts';

interface Entry<S extends Schema> {
  readonly change: Change<S>;
  /** The transaction that made the change, if the store needs to know it. */
  readonly origin: string | null;
  /** Characters in its texts. */
  readonly length: number;
}

/** Without this limit, hundreds of large tool results would stay in memory after their removal. */
const MAX_KEPT_CHARACTERS = 16 * 1024 * 1024;

/**
 * The latest changes in a ring, numbered from 1. A position is `<life>-<number>`, with a new life
 * at each start. A reader whose position is from an earlier life, or no longer in the ring, is told
 * of a gap.
 */
export class ChangeFeed<S extends Schema> {
  private readonly life = randomUUID().slice(0, 8);
  private readonly ring: (Entry<S> | undefined)[] = [];
  private readonly capacity: number;
  private readonly maxCharacters: number;
  private first = 1;
  private last = 0;
  private characters = 0;
  private nextChange = Promise.withResolvers<undefined>();
  private closed = false;

  /**
   * @param capacity how many changes to keep: fewer when their texts exceed `maxCharacters`, but
   * always the newest
   */
  constructor(capacity: number, maxCharacters = MAX_KEPT_CHARACTERS) {
    this.capacity = capacity;
    this.maxCharacters = maxCharacters;
  }

  publish(
    collection: string,
    id: string,
    document: Document | null,
    origin: string | null = null,
  ): void {
    if (this.last - this.first + 1 === this.capacity) this.dropFirst();
    this.last += 1;
    const length = lengthOf(document);
    this.ring[this.last % this.capacity] = {
      change: { position: this.position(this.last), collection, id, document },
      origin,
      length,
    };
    this.characters += length;
    while (this.characters > this.maxCharacters && this.first < this.last) this.dropFirst();
  }

  /** Tells every reader of a gap, because everything has changed. */
  skip(): void {
    while (this.first <= this.last) this.dropFirst();
    // The gap takes a number too, so that even a reader of the last change is behind it.
    this.last += 1;
    this.first = this.last + 1;
    this.announce();
  }

  /** Wakes the readers. Call it once after publishing any number of changes. */
  announce(): void {
    this.nextChange.resolve(undefined);
    this.nextChange = Promise.withResolvers<undefined>();
  }

  close(): void {
    this.closed = true;
    this.announce();
  }

  /**
   * Without `since`, gives the changes after this call, even if the first one is awaited later.
   * @param skipped origins whose changes are left out
   */
  read(
    { since, signal }: { since?: string; signal: AbortSignal },
    skipped: ReadonlySet<string> = new Set(),
  ): AsyncIterable<Change<S> | Gap> {
    return this.follow(since === undefined ? this.last : this.numberOf(since), skipped, signal);
  }

  private async *follow(
    from: number | null,
    skipped: ReadonlySet<string>,
    signal: AbortSignal,
  ): AsyncGenerator<Change<S> | Gap> {
    // Wakes all readers, because racing each promise against the signal would leak memory.
    const wake = () => this.announce();
    signal.addEventListener('abort', wake);
    let seen = from;
    try {
      while (!signal.aborted && !this.closed) {
        if (seen === null || seen < this.first - 1) {
          seen = this.last;
          yield { position: this.position(seen), gap: true };
        } else if (seen < this.last) {
          seen += 1;
          const { change, origin } = this.ring[seen % this.capacity]!;
          if (origin === null || !skipped.has(origin)) yield change;
        } else {
          await this.nextChange.promise;
        }
      }
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  private dropFirst(): void {
    const at = this.first % this.capacity;
    this.characters -= this.ring[at]!.length;
    this.ring[at] = undefined;
    this.first += 1;
  }

  private position(number: number): string {
    return `${this.life}-${number}`;
  }

  private numberOf(position: string): number | null {
    const number = position.startsWith(`${this.life}-`)
      ? Number(position.slice(this.life.length + 1))
      : NaN;
    return Number.isInteger(number) && number >= 0 && number <= this.last ? number : null;
  }
}

/** Counts top-level texts only, because they make documents large. */
function lengthOf(document: Document | null): number {
  let length = 0;
  for (const value of Object.values(document ?? {}))
    if (typeof value === 'string') length += value.length;
  return length;
}
