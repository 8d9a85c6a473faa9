// The thread that makes a snapshot, with its own heap and event loop. It ends when it has answered.
import { constants, platform, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { nodeFiles } from '../../../platform/files.ts';
import { mergeSnapshot, type MergeTask } from './snapshotMerge.ts';

// Linux sets the priority of the calling thread, other systems that of the whole process.
if (platform() === 'linux') setPriority(0, constants.priority.PRIORITY_LOW);

parentPort!.postMessage(await mergeSnapshot(workerData as MergeTask, nodeFiles));
