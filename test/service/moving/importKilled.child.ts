// Imports the export named by the second argument into the folder named by the first, and is killed (SIGKILL)
// before the nth thing that it does to the disk, n being the third argument. Says `done` when it gets to its end.
import { createReadStream } from 'node:fs';
import type { Files } from '../../../service/src/store/lowdb/index.ts';
import { nodeFiles, openLowdbStore } from '../../../service/src/store/lowdb/index.ts';
import { ExportReader } from '../../../service/src/moving/readExport.ts';
import { contractSchema } from '../../contract/schema.ts';

const [, , folder, file, nth] = process.argv;
let left = Number(nth);
const step = () => void (--left <= 0 && process.kill(process.pid, 'SIGKILL'));

const files: Files = {
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
      async sync() {
        step();
        await opened.sync();
      },
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
  async syncFolder(path) {
    step();
    await nodeFiles.syncFolder(path);
  },
};

const store = await openLowdbStore(contractSchema, { folder: folder!, files });
const reader = await ExportReader.open(createReadStream(file!));
await store.restore(reader.records());
await store.close();
process.stdout.write('done');
