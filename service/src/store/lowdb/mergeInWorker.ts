import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { MergeOrder, Merged } from './snapshotMerge.ts';

/** Beside this file, whether that is the source or what was built of it. */
const SCRIPT = new URL(`./snapshotWorker${extname(import.meta.url)}`, import.meta.url);

/**
 * `mergeSnapshot` in a thread of its own, which is gone when this settles.
 * @throws what it throws, by name and message; an AbortError when it was given up
 */
export const mergeInWorker = async (order: MergeOrder, signal: AbortSignal): Promise<Merged> => {
  // Options of the process are for its main thread: a profiler or loader that they name has nothing
  // to do here.
  const worker = new Worker(SCRIPT, { workerData: order, execArgv: [] });
  try {
    const [merged] = (await once(worker, 'message', { signal })) as [Merged];
    return merged;
  } finally {
    await worker.terminate();
  }
};
