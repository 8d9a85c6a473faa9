import { mkdir, readdir, open, type FileHandle } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import nativeFiles from 'fs-native-extensions';
import { FolderInUse } from '../errors.ts';
import type { Files } from '../../../platform/files.ts';

/**
 * The files of the data folder. A generation is the time between two snapshots: `journal-7.log`
 * holds what was written in generation 7, `snapshot-7.ndjson` everything before it.
 */
export interface Listing {
  /** Generations, newest first. */
  readonly snapshots: readonly number[];
  /** Generations, oldest first. */
  readonly journals: readonly number[];
  /** Names of unfinished files that an interrupted process left. */
  readonly unfinished: readonly string[];
}

export const FIRST_GENERATION = 1;
export const TEMPORARY = '.tmp';

export const journalName = (generation: number) => `journal-${generation}.log`;
export const snapshotName = (generation: number) => `snapshot-${generation}.ndjson`;

const generations = (names: readonly string[], pattern: RegExp): number[] =>
  names.flatMap((name) => pattern.exec(name)?.[1] ?? []).map(Number);

export const listFolder = async (folder: string): Promise<Listing> => {
  const names = await readdir(folder);
  return {
    snapshots: generations(names, /^snapshot-(\d+)\.ndjson$/).sort((a, b) => b - a),
    journals: generations(names, /^journal-(\d+)\.log$/).sort((a, b) => a - b),
    unfinished: names.filter((name) => /^(snapshot|probe)-.*\.tmp$/.test(name)),
  };
};

/**
 * The generations to start from when reading everything before generation `end`, the best first:
 * those with a snapshot, then the first generation, which needs none.
 */
export const basesOf = ({ snapshots, journals }: Listing, end = Infinity): readonly number[] => {
  const bases = snapshots.filter((generation) => generation < end);
  return bases.length === 0 || journals[0] === FIRST_GENERATION
    ? [...bases, FIRST_GENERATION]
    : bases;
};

/**
 * Creates the folder with those that it lies in, readable by their owner only. They survive a loss
 * of power. An existing folder, such as a volume, keeps its mode.
 */
export const makeFolder = async (folder: string, files: Files): Promise<void> => {
  // Without `..`, what is made lies in one line of folders.
  const whole = resolve(folder);
  const firstMade = await mkdir(whole, { recursive: true, mode: 0o700 });
  if (firstMade === undefined) return;
  const outermost = dirname(firstMade);
  for (let made = whole; made !== outermost; made = dirname(made))
    await files.syncFolder(dirname(made));
};

/** Removes unfinished files and everything older than `keepFrom`. */
export const tidyFolder = async (folder: string, keepFrom: number, files: Files): Promise<void> => {
  const { snapshots, journals, unfinished } = await listFolder(folder);
  const old = (generation: number) => generation < keepFrom;
  const names = [
    ...snapshots.filter(old).map(snapshotName),
    ...journals.filter(old).map(journalName),
    ...unfinished,
  ];
  for (const name of names) await files.remove(join(folder, name));
};

export interface FolderLock {
  release(): Promise<void>;
}

/** The locked byte lies after the process id, because on Windows a locked byte cannot be read. */
const LOCKED_BYTE = 4096;

/**
 * Locks the folder for this process. The operating system drops the lock when the process ends,
 * however it ends, so a restart right after kill -9 works. The lock belongs to the open file, so a
 * second store in the same process is refused too.
 * @throws FolderInUse
 */
export const lockFolder = async (folder: string): Promise<FolderLock> => {
  const handle = await open(join(folder, 'lock'), 'a+', 0o600);
  try {
    if (!nativeFiles.tryLock(handle.fd, LOCKED_BYTE, 1))
      throw new FolderInUse(folder, await readPid(handle));
    await handle.truncate(0);
    await handle.appendFile(`${process.pid}\n`);
  } catch (error) {
    await handle.close();
    throw error;
  }
  // Closing drops the lock. The file stays: if it were removed, two processes could lock two
  // different files of the same name.
  return { release: () => handle.close() };
};

const readPid = async (handle: FileHandle): Promise<number | null> => {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(32), 0, 32, 0);
  const pid = Number.parseInt(buffer.toString('latin1', 0, bytesRead), 10);
  return Number.isNaN(pid) ? null : pid;
};
