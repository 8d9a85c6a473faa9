// The thread that makes a snapshot, with a heap and an event loop of its own. Ends with its answer.
import { parentPort, workerData } from 'node:worker_threads';
import { nodeFiles } from './files.ts';
import type { MergeOrder } from './snapshotMerge.ts';
import { mergeSnapshot } from './snapshotMerge.ts';

parentPort!.postMessage(await mergeSnapshot(workerData as MergeOrder, nodeFiles));
