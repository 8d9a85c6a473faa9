import { join } from 'node:path';
import { ACKNOWLEDGED } from './highWaterMark.ts';
import { StoreDamaged } from '../errors.ts';
import type { Listing } from './folder.ts';
import { journalName } from './folder.ts';
import type { Frame, Operation } from './frame.ts';
import { decodeFrame, holdsFrame } from './frame.ts';
import type { Line } from '../../../platform/lines.ts';
import { readLines } from '../../../platform/files.ts';
import type { SnapshotHeader } from '../snapshots/snapshot.ts';

/** Reads journals in order and remembers the first position where no frame could be read. */
export class Replay {
  nextSequence: number;
  /** Length of the frames that were read. */
  bytes = 0;
  /** The position up to which the last file could be read. */
  end: { file: string; position: number };
  /** Something unreadable follows `end`. */
  isTorn = false;
  /** The last frame of the last file. It may be in the page cache and not on the disk. */
  lastFrame: Line | null = null;

  /** @param from the snapshot to begin with */
  constructor(from: SnapshotHeader) {
    this.nextSequence = from.nextSequence;
    this.end = { file: journalName(from.generation), position: 0 };
  }

  /**
   * Yields all operations in the order in which they were written, many at a time.
   * @throws StoreDamaged when frames follow an unreadable position, or a frame is missing
   */
  async *read(
    folder: string,
    generations: readonly number[],
  ): AsyncGenerator<readonly Operation[]> {
    for (const generation of generations) {
      const name = journalName(generation);
      this.beginFile(name);
      for await (const lines of readLines(join(folder, name)))
        yield lines.flatMap((line) => this.take(line));
    }
  }

  private beginFile(file: string): void {
    // A journal is begun only when everything in the one before is durable.
    if (this.isTorn) this.refuse();
    this.end = { file, position: 0 };
    this.lastFrame = null;
  }

  private take(line: Line): readonly Operation[] {
    const frame = line.ended ? decodeFrame(line.bytes) : null;
    if (frame !== null) return this.takeFrame(frame, line);
    this.isTorn = true;
    if (line.ended && holdsFrame(line.bytes)) this.refuse();
    return [];
  }

  private takeFrame({ sequence, operations }: Frame, line: Line): readonly Operation[] {
    if (this.isTorn) this.refuse();
    if (sequence !== this.nextSequence) {
      const { file, position } = this.end;
      throw new StoreDamaged(
        file,
        position,
        `The journal jumps from frame ${this.nextSequence - 1} to frame ${sequence}`,
        howToCut(file, position),
      );
    }
    const length = line.bytes.length + 1;
    this.end.position += length;
    this.bytes += length;
    this.nextSequence += 1;
    this.lastFrame = line;
    return operations;
  }

  /** The journal goes on after the unreadable position, so this is not the torn end of a write. */
  private refuse(): never {
    const { file, position } = this.end;
    throw new StoreDamaged(
      file,
      position,
      'The journal is damaged and acknowledged data follows the damage',
      howToCut(file, position),
    );
  }
}

/**
 * The generations to replay on top of the snapshot of `generation`.
 * @throws StoreDamaged when one is missing
 */
export const journalsSince = (
  generation: number,
  { journals, snapshots }: Listing,
): readonly number[] => {
  const since = journals.filter((each) => each >= generation);
  const isFresh = since.length === 0 && snapshots.length === 0;
  const expected = isFresh
    ? []
    : Array.from({ length: Math.max(since.length, 1) }, (_, i) => generation + i);
  const missing = expected.find((each) => !since.includes(each));
  if (missing !== undefined) {
    const wayOut = `put an empty file in its place, move the journals of later generations away and remove ${ACKNOWLEDGED}`;
    throw new StoreDamaged(journalName(missing), 0, 'A journal is missing', wayOut);
  }
  return since;
};

/**
 * The error when acknowledged frames are missing at the end.
 * @param promised every frame before this number was acknowledged
 */
export const lostFrames = (
  { end, nextSequence }: Pick<Replay, 'end' | 'nextSequence'>,
  promised: number,
) =>
  new StoreDamaged(
    end.file,
    end.position,
    `The journal can be read up to frame ${nextSequence - 1}, and everything up to frame ${promised - 1} was acknowledged`,
    `remove the file ${ACKNOWLEDGED}`,
  );

const howToCut = (file: string, position: number) =>
  `cut the file there (truncate -s ${position} ${file}), move the journals of later generations away and remove ${ACKNOWLEDGED}`;
