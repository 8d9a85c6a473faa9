/** The data folder is damaged, and a start would lose acknowledged data. */
export class StoreDamaged extends Error {
  override readonly name = 'StoreDamaged';
  readonly file: string;
  /** In bytes; 0 when the whole file is missing or damaged. */
  readonly position: number;

  /** @param wayOut what helps without a backup, if anything does */
  constructor(file: string, position: number, what: string, wayOut?: string) {
    super(
      `${what} (${file}, byte ${position}). Nothing was changed. Restore the whole data folder from a backup` +
        (wayOut === undefined
          ? '.'
          : `; or copy the folder and ${wayOut}: everything written from this position on is then lost.`),
    );
    this.file = file;
    this.position = position;
  }
}

/** Another process (or this one) has the folder open. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
  /** Null when that process has not written it yet. */
  readonly pid: number | null;

  constructor(folder: string, pid: number | null) {
    super(
      `The data folder ${folder} is in use by process ${pid ?? '(unknown)'}. ` +
        'Stop that process first, or give this one a folder of its own.',
    );
    this.pid = pid;
  }
}

const WORDS: Record<string, string> = {
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would grow past the allowed size',
  EIO: 'the disk reports an input/output error',
  EROFS: 'the file system is read-only',
  EACCES: 'permission is denied',
  EMFILE: 'too many files are open',
};

/** An error of the operating system in words that an operator can act on. */
export const inWords = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  return code !== undefined && code in WORDS
    ? `${WORDS[code]} (${code})`
    : (message ?? String(error));
};
