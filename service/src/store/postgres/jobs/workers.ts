/** A process that has been silent for this long no longer counts. */
const SILENT_AFTER_MS = 5_000;

/** The processes that work, as far as this one knows, and which of them serves a group. */
export class Workers {
  readonly #instance: string;
  readonly #now: () => number;
  /** The queues that this process takes no work from. It works on every other queue. */
  readonly #left = new Set<string>();
  readonly #others = new Map<
    string,
    { readonly queues: ReadonlySet<string>; readonly heardAt: number }
  >();

  /**
   * @param instance names this process
   * @param now a steady clock, in milliseconds
   */
  constructor(instance: string, now: () => number = () => performance.now()) {
    this.#instance = instance;
    this.#now = now;
  }

  /** @param queues those that the other process works on; none when it stops */
  hear(from: string, queues: readonly string[]): void {
    if (queues.length === 0) this.#others.delete(from);
    else this.#others.set(from, { queues: new Set(queues), heardAt: this.#now() });
  }

  /** This process takes no more work of the queue. */
  leave(queue: string): void {
    this.#left.add(queue);
  }

  join(queue: string): void {
    this.#left.delete(queue);
  }

  worksOn(queue: string): boolean {
    return !this.#left.has(queue);
  }

  /**
   * Whether this process serves the group, rather than another one. Each process gives each group a
   * number, and the highest wins: a process that comes or goes moves only its own groups. Processes
   * may disagree for a moment; the statement that claims keeps the group's limit all the same.
   */
  isMine(queue: string, group: string): boolean {
    const mine = numberOf(this.#instance, group);
    const silentAt = this.#now() - SILENT_AFTER_MS;
    for (const [other, { queues, heardAt }] of this.#others) {
      if (heardAt < silentAt) this.#others.delete(other);
      else if (queues.has(queue) && numberOf(other, group) > mine) return false;
    }
    return true;
  }
}

/** 32 bits by FNV-1a, mixed once more since it spreads the last characters badly. */
function numberOf(instance: string, group: string): number {
  const text = `${group} ${instance}`;
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
