import type { Bounds } from '../limits/bounds.ts';
import { FairPool } from '../limits/fairPool.ts';

const PIECE_BYTES = 16 * 1024;
/**
 * Answers that are being read may hold 64 MiB together, and one workspace alone half of it: 512
 * deliveries' answers, or six of the largest of tools. They are read in milliseconds as a rule.
 */
export const MAX_ANSWER_PIECES = 4096;

interface Waiting {
  readonly bytes: number;
  readonly begin: (leave: () => void) => void;
}

/**
 * The memory that answers of outbound calls share while they are read. What finds none is not read
 * further until it does.
 */
export class AnswerRoom {
  readonly #bounds: Bounds | undefined;
  readonly #pieces: FairPool;
  /** By workspace, the next one first. */
  readonly #waiting = new Map<string, Set<Waiting>>();

  constructor(bounds: Bounds | undefined, maxPieces = MAX_ANSWER_PIECES) {
    this.#bounds = bounds;
    this.#pieces = new FairPool(maxPieces);
  }

  /** Pieces taken, by all. */
  get held(): number {
    return this.#pieces.held;
  }

  /** Room for so many bytes at once. @returns what gives it back; null when there is none now */
  enter(workspaceId: string, bytes: number): (() => void) | null {
    return this.#waiting.has(workspaceId) ? null : this.#take(workspaceId, bytes);
  }

  /**
   * @param begin called when there is room, with what gives it back. @returns what leaves the line
   */
  wait(workspaceId: string, bytes: number, begin: (leave: () => void) => void): () => void {
    this.#bounds?.reached('workspace_answers');
    const waiting: Waiting = { bytes, begin };
    this.#waiting.set(workspaceId, (this.#waiting.get(workspaceId) ?? new Set()).add(waiting));
    return () => this.#leaveLine(workspaceId, waiting);
  }

  #take(workspaceId: string, bytes: number): (() => void) | null {
    const needed = Math.ceil(bytes / PIECE_BYTES);
    if (this.#pieces.freeFor(workspaceId) < needed) return null;
    const leaves = Array.from({ length: needed }, () => this.#pieces.enter(workspaceId)!);
    return () => {
      if (leaves.length === 0) return;
      for (const leave of leaves.splice(0)) leave();
      this.#next();
    };
  }

  #leaveLine(workspaceId: string, waiting: Waiting): void {
    const line = this.#waiting.get(workspaceId);
    line?.delete(waiting);
    if (line?.size === 0) this.#waiting.delete(workspaceId);
  }

  /** Gives what is free to those that wait, each workspace in turn. */
  #next(): void {
    for (let isGiven = true; isGiven; ) {
      isGiven = false;
      for (const [workspaceId, line] of [...this.#waiting]) {
        const [first] = line;
        const leave = first === undefined ? null : this.#take(workspaceId, first.bytes);
        if (leave === null) continue;
        isGiven = true;
        this.#leaveLine(workspaceId, first!);
        first!.begin(leave);
      }
    }
  }
}
