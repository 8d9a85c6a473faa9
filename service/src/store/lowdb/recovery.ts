import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ACKNOWLEDGED, readAcknowledged } from './acknowledgedNote.ts';
import { freezeParsed } from './document.ts';
import { StoreDamaged } from './errors.ts';
import type { Files } from './files.ts';
import type { Listing } from './folder.ts';
import { FIRST_GENERATION, journalName, listFolder, snapshotName } from './folder.ts';
import type { Frame } from './frame.ts';
import { decodeFrame, holdsFrame } from './frame.ts';
import type { JournalPosition } from './journal.ts';
import type { Line } from './lines.ts';
import { readLines } from './lines.ts';
import type { Logger } from './options.ts';
import type { Snapshot } from './snapshot.ts';
import { readSnapshot } from './snapshot.ts';
import type { Data } from './state.ts';
import { emptyRows } from './state.ts';

export interface Recovered {
  readonly data: Data;
  /** The end of the last journal; null in an empty folder. */
  readonly position: JournalPosition | null;
  /** The snapshot that it began from: generation, length, and when it was written (ms since the epoch; null: none). */
  readonly base: { readonly generation: number; readonly bytes: number; readonly at: number | null };
  /** Length of the journals that were replayed, in bytes. */
  readonly journalBytes: number;
}

/**
 * Reads everything back: the newest good snapshot, then all journals since.
 * Cuts a torn end, in which nothing was acknowledged, and makes what is left durable.
 * @throws StoreDamaged for any other damage, with nothing changed
 */
export const recover = async (folder: string, files: Files, log: Logger): Promise<Recovered> => {
  const listing = await listFolder(folder);
  const base = await newestGoodSnapshot(folder, listing, log);
  const journals = journalsSince(base, listing);
  const promised = await readAcknowledged(folder);
  if (journals.length === 0 && promised !== null && promised > base.nextSequence) throw endsEarly(journalName(base.generation), 0, base.nextSequence, promised);
  if (journals.length === 0) return { data: base.data, position: null, base, journalBytes: 0 };
  const replay = new Replay(base);
  for (const generation of journals) {
    const name = journalName(generation);
    replay.beginFile(name);
    for await (const lines of readLines(join(folder, name))) for (const line of lines) replay.take(line);
  }
  const last = journals.at(-1)!;
  const { size: length } = await stat(join(folder, journalName(last)));
  if (promised !== null && promised > replay.nextSequence) {
    const { file, position } = replay.tail ?? { file: journalName(last), position: length };
    throw endsEarly(file, position, replay.nextSequence, promised);
  }
  await cut(folder, replay.tail, files, log);
  // An unreadable end is always the last file's.
  const size = replay.tail?.position ?? length;
  await settle(folder, last, size, replay.lastFrame, files);
  return {
    data: base.data,
    position: { generation: last, length: size, nextSequence: replay.nextSequence },
    base,
    journalBytes: replay.bytes,
  };
};

const newestGoodSnapshot = async (folder: string, { snapshots, journals }: Listing, log: Logger): Promise<Snapshot> => {
  for (const generation of snapshots) {
    const snapshot = await readSnapshot(folder, generation);
    if (snapshot !== null) return snapshot;
    log.warn(`${snapshotName(generation)} is empty or damaged; falling back to the one before and its journals`);
  }
  if (snapshots[0] !== undefined && journals[0] !== FIRST_GENERATION) {
    throw new StoreDamaged(snapshotName(snapshots[0]), 0, 'The snapshot is empty or damaged and there is none to fall back to');
  }
  return { generation: FIRST_GENERATION, nextSequence: 1, data: {}, bytes: 0, at: null };
};

/** The generations to replay, after checking that none is missing. */
const journalsSince = (base: Snapshot, { journals, snapshots }: Listing): readonly number[] => {
  const since = journals.filter((generation) => generation >= base.generation);
  const fresh = since.length === 0 && snapshots.length === 0;
  const expected = fresh ? [] : Array.from({ length: Math.max(since.length, 1) }, (_, i) => base.generation + i);
  const missing = expected.find((generation) => !since.includes(generation));
  if (missing !== undefined) {
    const wayOut = `put an empty file in its place, move the journals of later generations away and remove ${ACKNOWLEDGED}`;
    throw new StoreDamaged(journalName(missing), 0, 'A journal is missing', wayOut);
  }
  return since;
};

/** Applies frames in order and remembers the first place where none could be read. */
class Replay {
  private readonly data: Data;
  private file = '';
  nextSequence: number;
  bytes = 0;
  /** Where the unreadable part begins; null: there is none. */
  tail: { readonly file: string; readonly position: number } | null = null;
  /** The last frame of the last file: it alone may be in the page cache and not on the disk. */
  lastFrame: Line | null = null;

  constructor(base: Snapshot) {
    this.data = base.data;
    this.nextSequence = base.nextSequence;
  }

  beginFile(file: string): void {
    // A journal follows another one only when everything in that one is durable.
    if (this.tail !== null) this.refuse(this.tail);
    this.file = file;
    this.lastFrame = null;
  }

  take(line: Line): void {
    const frame = line.ended ? decodeFrame(line.bytes) : null;
    if (frame === null) this.takeUnreadable(line);
    else this.takeFrame(frame, line);
  }

  private takeUnreadable(line: Line): void {
    this.tail ??= { file: this.file, position: line.position };
    if (line.ended && holdsFrame(line.bytes)) this.refuse(this.tail);
  }

  private takeFrame(frame: Frame, line: Line): void {
    if (this.tail !== null) this.refuse(this.tail);
    if (frame.sequence !== this.nextSequence) {
      const what = `The journal jumps from frame ${this.nextSequence - 1} to frame ${frame.sequence}`;
      throw new StoreDamaged(this.file, line.position, what, cutting(this.file, line.position));
    }
    this.nextSequence += 1;
    this.bytes += line.bytes.length + 1;
    this.lastFrame = line;
    for (const operation of frame.operations) {
      const [kind, collection] = operation;
      const rows = (this.data[collection] ??= emptyRows());
      if (kind === 'delete') Reflect.deleteProperty(rows, operation[2]);
      else {
        freezeParsed(operation[2]);
        rows[operation[2].id] = operation[2];
      }
    }
  }

  /** Behind the unreadable place the journal goes on, so what lies between was not the torn end of writing. */
  private refuse({ file, position }: NonNullable<Replay['tail']>): never {
    throw new StoreDamaged(file, position, 'The journal is damaged and acknowledged data follows the damage', cutting(file, position));
  }
}

const endsEarly = (file: string, position: number, next: number, promised: number) =>
  new StoreDamaged(
    file,
    position,
    `The journal can be read up to frame ${next - 1}, and everything up to frame ${promised - 1} was acknowledged`,
    `remove the file ${ACKNOWLEDGED}`,
  );

const cutting = (file: string, position: number) =>
  `cut the file there (truncate -s ${position} ${file}), move the journals of later generations away and remove ${ACKNOWLEDGED}`;

const cut = async (folder: string, tail: Replay['tail'], files: Files, log: Logger): Promise<void> => {
  if (tail === null) return;
  const { file, position } = tail;
  log.warn(`${file} ends in an unfinished frame at byte ${position}; it was never acknowledged and is cut off`);
  const handle = await files.open(join(folder, file), 'r+');
  try {
    await handle.truncate(position);
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/**
 * Makes the last frame durable before anything read from it leaves. It may have reached the page cache
 * and no disk: its writer was killed before its fdatasync, or the fdatasync failed, after which Linux
 * takes the pages for clean. Writing the same bytes again makes them dirty, so that the sync is real.
 */
const settle = async (folder: string, generation: number, size: number, last: Line | null, files: Files): Promise<void> => {
  const handle = await files.open(join(folder, journalName(generation)), 'r+');
  try {
    if (last !== null && last.position + last.bytes.length < size) await handle.write(last.bytes, last.position);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await files.syncFolder(folder);
};
