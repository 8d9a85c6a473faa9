import type { DumpedRecord } from '../store.ts';
import type { Files } from './files.ts';
import type { SnapshotHeader } from './snapshotFile.ts';
import { SnapshotFile, snapshotLine } from './snapshotFile.ts';
import { JOBS } from './state.ts';

/**
 * Makes a snapshot of what a store gives out.
 * @param target path of the file
 * @returns its length in bytes, once all of it is durable
 */
export const snapshotOfRecords = async (
  target: string,
  header: SnapshotHeader,
  records: AsyncIterable<DumpedRecord>,
  files: Files,
): Promise<number> => {
  const file = await files.open(target, 'w');
  try {
    const snapshot = await SnapshotFile.begin(file, header);
    for await (const record of records) {
      const [collection, document] =
        'job' in record ? [JOBS, record.job] : [record.collection, record.document];
      await snapshot.add(snapshotLine(collection, JSON.stringify(document)), 1);
    }
    return await snapshot.finish();
  } finally {
    await file.close();
  }
};
