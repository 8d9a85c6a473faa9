import type { Bounds } from '../limits/bounds.ts';
import { QueuedPool } from '../limits/queuedPool.ts';
import type { EnterRoom } from './exchange.ts';

const PIECE_BYTES = 16 * 1024;
/**
 * All answers that are being read share 64 MiB. One workspace alone may take half of it: enough for
 * 512 deliveries, or for six of the largest tool answers. Most are read in milliseconds.
 */
export const MAX_ANSWER_PIECES = 4096;

/**
 * The memory that the answers of outbound calls share while they are read. When there is no room,
 * reading pauses until there is.
 */
export class AnswerRoom {
  readonly #bounds: Bounds | undefined;
  readonly #pieces: QueuedPool;

  constructor(bounds: Bounds | undefined, maxPieces = MAX_ANSWER_PIECES) {
    this.#bounds = bounds;
    this.#pieces = new QueuedPool(maxPieces);
  }

  /** How many pieces all workspaces have taken. */
  get held(): number {
    return this.#pieces.held;
  }

  /** Takes room at once. @returns a function that gives it back; null when there is none now */
  enter(workspaceId: string, bytes: number): (() => void) | null {
    return this.#pieces.enter(workspaceId, piecesOf(bytes));
  }

  /**
   * Waits for room.
   * @param start called when there is room, with a function that gives it back
   * @returns a function that gives up waiting
   */
  wait(workspaceId: string, bytes: number, start: (leave: () => void) => void): () => void {
    this.#bounds?.reached('workspace_answers');
    return this.#pieces.wait(workspaceId, piecesOf(bytes), start);
  }

  /** The memory that the answers of one call take, over all its redirects. */
  open(workspaceId: string): { readonly enter: EnterRoom; leave(): void } {
    const leaves: (() => void)[] = [];
    return {
      enter: (bytes, onRoom) => {
        const leave = this.enter(workspaceId, bytes);
        leaves.push(
          leave ?? this.wait(workspaceId, bytes, (later) => (leaves.push(later), onRoom())),
        );
        return leave !== null;
      },
      leave: () => leaves.forEach((leave) => leave()),
    };
  }
}

const piecesOf = (bytes: number): number => Math.ceil(bytes / PIECE_BYTES);
