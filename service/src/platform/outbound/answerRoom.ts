import { unwatchedBounds, type Bounds } from '../limits/bounds.ts';
import { QueuedPool } from '../limits/queuedPool.ts';
import type { TakeMemory } from './exchange.ts';

const PIECE_BYTES = 16 * 1024;
/**
 * All answers that are being read share 64 MiB. One workspace alone may take half of it: enough for
 * 512 deliveries, or for six of the largest tool answers. Most answers are read in milliseconds.
 */
const MAX_ANSWER_PIECES = 4096;

/**
 * The memory that the answers of outbound calls share while they are read. When there is no room,
 * reading pauses until there is.
 */
export class AnswerRoom {
  readonly #bounds: Bounds;
  readonly #pieces: QueuedPool;

  constructor(bounds: Bounds = unwatchedBounds, maxPieces = MAX_ANSWER_PIECES) {
    this.#bounds = bounds;
    this.#pieces = new QueuedPool(maxPieces);
  }

  /** How many pieces are taken, by all workspaces. */
  get held(): number {
    return this.#pieces.held;
  }

  /** The memory that the answers of one call take, over all its redirects. */
  open(workspaceId: string): { readonly enter: TakeMemory; leave(): void } {
    const leaves: (() => void)[] = [];
    return {
      enter: (bytes, onTaken) => {
        const pieces = Math.ceil(bytes / PIECE_BYTES);
        const leave = this.#pieces.enter(workspaceId, pieces);
        if (leave === null) this.#bounds.reached('workspace_answers');
        leaves.push(
          leave ??
            this.#pieces.wait(workspaceId, pieces, (later) => (leaves.push(later), onTaken())),
        );
        return leave !== null;
      },
      // Each function can make room for a waiting answer. If it is one of this call, the list grows.
      leave: () => {
        while (leaves.length > 0) leaves.pop()!();
      },
    };
  }
}
