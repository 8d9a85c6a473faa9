import type { Document } from '../../store.ts';
import type { Write } from '../unitOfWork.ts';
import type { State } from '../state.ts';

/** Returns the holder whose memory a document counts towards, if any. */
export type HolderOf = (collection: string, document: Document) => string | null;

/** The memory for a document besides its texts: the object, its fields, its index entries. */
const DOCUMENT_BYTES = 500;
const VALUE_BYTES = 16;

/**
 * How much each holder has stored, updated with every write. An estimate for comparing holders:
 * only V8 knows how much memory a document really takes.
 */
export class StorageUsage {
  readonly #holderOf: HolderOf;
  readonly #bytes = new Map<string, number>();
  #total = 0;
  /** Null when it is not known and has to be looked for. */
  #largest: string | null = null;

  constructor(holderOf: HolderOf, state?: State) {
    this.#holderOf = holderOf;
    for (const table of state?.all() ?? []) {
      for (const document of table.documents()) this.#count(table.name, document, 1);
    }
  }

  note(writes: readonly Write[]): void {
    for (const { table, before, after } of writes) {
      if (after !== undefined) this.#count(table.name, after, 1);
      if (before !== undefined) this.#count(table.name, before, -1);
    }
  }

  /** How many holders have anything stored. */
  get holderCount(): number {
    return this.#bytes.size;
  }

  /** A holder's part of everything, from 0 to 1. */
  shareOf(holder: string): number {
    return (this.#bytes.get(holder) ?? 0) / Math.max(1, this.#total);
  }

  get largestShare(): number {
    this.#largest ??= this.#findLargest();
    return this.#largest === null ? 0 : this.shareOf(this.#largest);
  }

  /** All holders, the largest first. */
  inOrder(): readonly string[] {
    return [...this.#bytes].sort(([, a], [, b]) => b - a).map(([holder]) => holder);
  }

  #count(collection: string, document: Document, sign: 1 | -1): void {
    const holder = this.#holderOf(collection, document);
    if (holder === null) return;
    const change = sign * sizeOf(document);
    const bytes = (this.#bytes.get(holder) ?? 0) + change;
    this.#total += change;
    if (bytes > 0) this.#bytes.set(holder, bytes);
    else this.#bytes.delete(holder);
    if (this.#largest === null) return;
    if (holder === this.#largest) this.#largest = sign === 1 ? holder : null;
    else if (bytes > this.#bytes.get(this.#largest)!) this.#largest = holder;
  }

  #findLargest(): string | null {
    let largest: string | null = null;
    let most = 0;
    for (const [holder, bytes] of this.#bytes) if (bytes > most) [largest, most] = [holder, bytes];
    return largest;
  }
}

/** About how many bytes a document takes. The same content always gives the same number. */
const sizeOf = (document: Document): number => DOCUMENT_BYTES + sizeOfValue(document);

function sizeOfValue(value: unknown): number {
  if (typeof value === 'string') return VALUE_BYTES + value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = VALUE_BYTES;
  const parts = value as Record<string, unknown>;
  for (const key in parts) bytes += sizeOfValue(parts[key]);
  return bytes;
}
