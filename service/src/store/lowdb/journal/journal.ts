import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { StoreUnavailable } from '../../store.ts';
import type { HighWaterMark } from './highWaterMark.ts';
import { inWords } from '../errors.ts';
import type { Files, StoreFile } from '../../../platform/files.ts';
import { journalName } from './folder.ts';
import { encodeFrame } from './frame.ts';
import type { Write } from '../unitOfWork.ts';

/** The end of a journal. Everything before it is durable. */
export interface JournalPosition {
  readonly generation: number;
  /** Length of the generation's file, in bytes. */
  readonly length: number;
  /** The number of the next frame. */
  readonly nextSequence: number;
}

interface JournalEvents {
  /**
   * Called with transactions in order, after they became durable and before they are acknowledged.
   */
  durable(commits: readonly (readonly Write[])[]): void;
  /** Called once. The journal accepts nothing more; nothing after `position` was acknowledged. */
  failed(reason: string): void;
}

/** Where a journal is and whom it tells. */
export interface JournalOptions {
  readonly folder: string;
  readonly files: Files;
  readonly events: JournalEvents;
}

interface PendingFrame {
  readonly operations: string[];
  readonly commits: Write[][];
  readonly settled: PromiseWithResolvers<undefined>;
  /** When its first transaction was appended, by performance.now(). */
  readonly beganAt: number;
  size: number;
}

/** A frame is closed at about this size, to bound the time and memory of one write. */
const FRAME_CHARACTERS = 4 << 20;

/**
 * Appends transactions to a file, many to a frame. While one frame is being written, the next one
 * collects transactions; it is written when the earlier one is durable. So when a frame is durable,
 * everything before it is.
 */
export class Journal {
  private readonly options: JournalOptions;
  private readonly mark: HighWaterMark;
  private readonly waiting: PendingFrame[] = [];
  /** The frame that is being written: the first one in `waiting`. */
  private inFlight: PendingFrame | null = null;
  private rotation: PromiseWithResolvers<JournalPosition> | null = null;
  private running: Promise<void> | null = null;
  private failure: StoreUnavailable | null = null;
  private file: StoreFile;
  private at: JournalPosition;
  /** Bytes of frames that this object has made durable. */
  written = 0;

  constructor(options: JournalOptions, file: StoreFile, at: JournalPosition, mark: HighWaterMark) {
    this.options = options;
    this.file = file;
    this.at = at;
    this.mark = mark;
  }

  get position(): JournalPosition {
    return this.at;
  }

  /**
   * How long the oldest transaction that is not durable yet has been waiting; 0 when there is none.
   */
  get waitingMs(): number {
    const oldest = this.waiting[0];
    return oldest === undefined ? 0 : performance.now() - oldest.beganAt;
  }

  /** Resolves when the transaction, and everything before it, is durable. */
  append(writes: Write[]): Promise<void> {
    if (this.failure !== null) return Promise.reject(this.failure);
    let frame = this.waiting.at(-1);
    if (frame === undefined || frame === this.inFlight || frame.size > FRAME_CHARACTERS) {
      frame = {
        operations: [],
        commits: [],
        settled: Promise.withResolvers<undefined>(),
        beganAt: performance.now(),
        size: 0,
      };
      frame.settled.promise.catch(() => {});
      this.waiting.push(frame);
    }
    for (const { json } of writes) {
      frame.operations.push(json);
      frame.size += json.length;
    }
    frame.commits.push(writes);
    this.start();
    return frame.settled.promise;
  }

  /** Resolves when everything appended so far is durable; null when it already is. */
  pending(): Promise<void> | null {
    if (this.failure !== null) return Promise.reject(this.failure);
    return this.waiting.at(-1)?.settled.promise ?? null;
  }

  /** Begins a new file between two frames. Resolves with its beginning. */
  rotate(): Promise<JournalPosition> {
    if (this.failure !== null) return Promise.reject(this.failure);
    this.rotation ??= Promise.withResolvers<JournalPosition>();
    this.rotation.promise.catch(() => {});
    this.start();
    return this.rotation.promise;
  }

  /** Resolves when nothing is being written any more and the file is closed. */
  async close(): Promise<void> {
    await this.running;
    await this.file.close().catch(() => {});
  }

  private start(): void {
    this.running ??= this.run();
  }

  private async run(): Promise<void> {
    try {
      // One turn of the event loop, so that callers of the last frame can still add to this one.
      for (await nextTurn(); this.waiting.length > 0 || this.rotation !== null; await nextTurn()) {
        if (this.rotation !== null) await this.openNext(this.rotation);
        if (this.waiting[0] !== undefined) await this.writeFrame(this.waiting[0]);
      }
    } catch (error) {
      this.fail(error);
    } finally {
      // No await since the loop's last check, so the next `append` starts a new run.
      this.running = null;
    }
  }

  private async writeFrame(frame: PendingFrame): Promise<void> {
    this.inFlight = frame;
    const bytes = encodeFrame(this.at.nextSequence, frame.operations);
    await this.file.write(bytes, this.at.length);
    await this.file.sync();
    this.at = {
      ...this.at,
      length: this.at.length + bytes.length,
      nextSequence: this.at.nextSequence + 1,
    };
    this.written += bytes.length;
    await this.mark.write(this.at.nextSequence);
    this.waiting.shift();
    this.inFlight = null;
    this.options.events.durable(frame.commits);
    frame.settled.resolve(undefined);
  }

  private async openNext(rotation: PromiseWithResolvers<JournalPosition>): Promise<void> {
    const generation = this.at.generation + 1;
    const next = await createJournal(this.options.folder, generation, this.options.files);
    const earlier = this.file;
    this.file = next;
    this.at = { generation, length: 0, nextSequence: this.at.nextSequence };
    this.rotation = null;
    rotation.resolve(this.at);
    await earlier.close().catch(() => {}); // everything in it is durable already
  }

  private fail(error: unknown): void {
    const reason = `${journalName(this.at.generation)} cannot be written: ${inWords(error)}`;
    this.failure = new StoreUnavailable(reason, { cause: error });
    for (const frame of this.waiting) frame.settled.reject(this.failure);
    this.rotation?.reject(this.failure);
    this.waiting.length = 0;
    this.inFlight = null;
    this.options.events.failed(reason);
  }
}

/** Creates an empty journal file that survives a loss of power. */
export const createJournal = async (
  folder: string,
  generation: number,
  files: Files,
): Promise<StoreFile> => {
  const file = await files.open(join(folder, journalName(generation)), 'w');
  try {
    await file.sync();
    await files.syncFolder(folder);
    return file;
  } catch (error) {
    await file.close().catch(() => {});
    throw error;
  }
};
