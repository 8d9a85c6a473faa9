import type { Heap } from '../../service/src/store/lowdb/memory/heapWatch.ts';

const MIB = 2 ** 20;

/** A heap that is as full as a test says, of 1000 MiB. */
export class HeapAt implements Heap {
  readonly limitBytes = 1000 * MIB;
  /** What is live, of the limit. */
  share = 0.3;
  collections = 0;
  private tell = () => {};

  usedBytes(): number {
    return this.limitBytes * this.share;
  }

  collect(): void {
    this.collections += 1;
  }

  onCollected(call: () => void): () => void {
    this.tell = call;
    return () => {};
  }

  /** V8 collects by itself, and this much was live at that time. */
  collected(share: number): void {
    this.share = share;
    this.tell();
  }
}
