import { nodeFiles, type Files } from '../../service/src/store/lowdb/index.ts';

/**
 * The disk, for a process that is to be killed in the middle of something.
 * @param step called before each thing that is done to the disk, in the middle of each write, and
 * after each rename. Not before a flush: a process that is killed there leaves the same files as
 * one killed after it.
 */
export const filesInSteps = (step: () => void): Files => ({
  async open(path, flags) {
    step();
    const opened = await nodeFiles.open(path, flags);
    return {
      async write(bytes, position) {
        step();
        const half = Math.floor(bytes.length / 2);
        await opened.write(bytes.subarray(0, half), position);
        step();
        await opened.write(bytes.subarray(half), position + half);
      },
      sync: () => opened.sync(),
      truncate: (length) => opened.truncate(length),
      close: () => opened.close(),
    };
  },
  async rename(from, to) {
    step();
    await nodeFiles.rename(from, to);
    step();
  },
  async remove(path) {
    step();
    await nodeFiles.remove(path);
  },
  syncFolder: (path) => nodeFiles.syncFolder(path),
});
