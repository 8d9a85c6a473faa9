import type { Files, StoreFile } from '../../../service/src/store/lowdb/index.ts';
import { nodeFiles } from '../../../service/src/store/lowdb/index.ts';

type Operation = 'open' | 'write' | 'sync' | 'truncate' | 'rename';

export const diskError = (code: string) =>
  Object.assign(new Error(`${code}: from the test`), { code });

/** Real files whose operations fail or wait when a test says so. */
export class BreakableFiles implements Files {
  /** Says, before each operation, which error it ends with; null lets it pass. */
  fail: (operation: Operation, path: string) => Error | null = () => null;
  /** How much of a failing write reaches the file all the same. */
  writtenBeforeFailing = 0;
  /** How many syncs have come to wait. */
  heldSyncs = 0;
  private gate: (path: string) => Promise<unknown> | null = () => null;

  /** Makes every sync of these files wait until the returned function is called. */
  holdSyncs(of: (path: string) => boolean = () => true): () => void {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.gate = (path) => (of(path) ? promise : null);
    return () => resolve(undefined);
  }

  async open(path: string, flags: 'w' | 'r+'): Promise<StoreFile> {
    this.check('open', path);
    const file = await nodeFiles.open(path, flags);
    return {
      write: async (bytes, position) => {
        const error = this.fail('write', path);
        if (error === null) return file.write(bytes, position);
        await file.write(bytes.subarray(0, this.writtenBeforeFailing), position);
        throw error;
      },
      sync: async () => {
        const gate = this.gate(path);
        if (gate !== null) this.heldSyncs += 1;
        await gate;
        this.check('sync', path);
        await file.sync();
      },
      truncate: async (length) => {
        this.check('truncate', path);
        await file.truncate(length);
      },
      close: () => file.close(),
    };
  }

  async rename(from: string, to: string): Promise<void> {
    this.check('rename', to);
    await nodeFiles.rename(from, to);
  }

  remove = nodeFiles.remove;
  syncFolder = nodeFiles.syncFolder;

  private check(operation: Operation, path: string): void {
    const error = this.fail(operation, path);
    if (error !== null) throw error;
  }
}
