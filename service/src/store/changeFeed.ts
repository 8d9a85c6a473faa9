import { randomUUID } from 'node:crypto';
import type { Change, Document, Gap, Schema } from './store.ts';

interface Entry<S extends Schema> {
  readonly change: Change<S>;
  /** Which transaction it comes from, for a store that has to know. */
  readonly origin: string | null;
  /** Characters of its texts. */
  readonly length: number;
}

/**
 * Characters that a feed keeps of changed documents: 512 large results of tools would be gigabytes,
 * long after they have been cut or removed. Far more than readers who keep up ever need.
 */
export const MAX_KEPT_CHARACTERS = 16 * 1024 * 1024;

/**
 * The last changes, kept in a ring and numbered from 1. A position is `<life>-<number>`: after a
 * restart all older positions are unknown, and whoever comes with one is told that there is a gap.
 * Readers have no buffers of their own: one that is slower than the ring is long gets a gap.
 */
export class ChangeFeed<S extends Schema> {
  private readonly life = randomUUID().slice(0, 8);
  private readonly ring: (Entry<S> | undefined)[] = [];
  private readonly kept: number;
  private readonly mostCharacters: number;
  private first = 1;
  private last = 0;
  private characters = 0;
  private news = Promise.withResolvers<undefined>();
  private closed = false;

  /**
   * @param kept how many changes, as long as they have no more than so many characters; the newest
   * one whatever it has
   */
  constructor(kept: number, mostCharacters = MAX_KEPT_CHARACTERS) {
    this.kept = kept;
    this.mostCharacters = mostCharacters;
  }

  publish(
    collection: string,
    id: string,
    document: Document | null,
    origin: string | null = null,
  ): void {
    if (this.last - this.first + 1 === this.kept) this.dropFirst();
    this.last += 1;
    const length = lengthOf(document);
    this.ring[this.last % this.kept] = {
      change: { position: this.position(this.last), collection, id, document },
      origin,
      length,
    };
    this.characters += length;
    while (this.characters > this.mostCharacters && this.first < this.last) this.dropFirst();
  }

  /** Everything has changed: every reader is told of a gap. */
  skip(): void {
    while (this.first <= this.last) this.dropFirst();
    this.last += this.kept + 1;
    this.first = this.last + 1;
    this.announce();
  }

  /** Wakes the readers; once for many changes. */
  announce(): void {
    this.news.resolve(undefined);
    this.news = Promise.withResolvers<undefined>();
  }

  close(): void {
    this.closed = true;
    this.announce();
  }

  /**
   * Begins to count from the moment of the call, not from the first reading.
   * @param passedOver origins whose changes are not shown
   */
  read(
    { since, signal }: { since?: string; signal: AbortSignal },
    passedOver: ReadonlySet<string> = new Set(),
  ): AsyncIterable<Change<S> | Gap> {
    return this.follow(since === undefined ? this.last : this.numberOf(since), passedOver, signal);
  }

  private async *follow(
    from: number | null,
    passedOver: ReadonlySet<string>,
    signal: AbortSignal,
  ): AsyncGenerator<Change<S> | Gap> {
    // Wakes all readers, for nothing but once: racing two promises again and again would hoard
    // memory.
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
          const { change, origin } = this.ring[seen % this.kept]!;
          if (origin === null || !passedOver.has(origin)) yield change;
        } else {
          await this.news.promise;
        }
      }
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  private dropFirst(): void {
    const at = this.first % this.kept;
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

/**
 * What makes a document large is a text of its own; looking deeper would cost more than it tells.
 */
function lengthOf(document: Document | null): number {
  let length = 0;
  for (const value of Object.values(document ?? {}))
    if (typeof value === 'string') length += value.length;
  return length;
}
