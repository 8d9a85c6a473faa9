import type { Heap } from '../../service/src/store/lowdb/memory/heapWatch.ts';

const MIB = 2 ** 20;

/** A heap of 1000 MiB that is as full as a test says. */
export class HeapAt implements Heap {
  readonly limitBytes = 1000 * MIB;
  /** The share of the limit that is live. */
  share = 0.3;
  collections = 0;
  private tell = () => {};

  usedBytes(): number {
    return this.limitBytes * this.share;
  }

  /** The listener is told only of collections that V8 begins by itself, and this is none. */
  collect(): void {
    this.collections += 1;
  }

  onCollected(call: () => void): () => void {
    this.tell = call;
    return () => {};
  }

  /** Tells the listener that V8 has collected by itself and found this share live. */
  collected(share: number): void {
    this.share = share;
    this.tell();
  }
}
