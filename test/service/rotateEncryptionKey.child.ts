// Rotates the encryption key of the data folder named by the first argument, and is killed (SIGKILL)
// before the nth thing that it does to the disk, n being the second argument. Says `done` when it gets to its end.
import { rotateEncryptionKey } from '../../service/src/encryption/rotateEncryptionKey.ts';
import { collections } from '../../service/src/domain/collections.ts';
import { parseEncryptionKey } from '../../service/src/security/encryptionKey.ts';
import type { Files } from '../../service/src/store/lowdb/index.ts';
import { nodeFiles, openLowdbStore } from '../../service/src/store/lowdb/index.ts';

const [, , folder, nth, newKey, presentKey] = process.argv;
let left = Number(nth);
let isRotating = false;
const step = () => void (isRotating && --left <= 0 && process.kill(process.pid, 'SIGKILL'));

const files: Files = {
  async open(path, flags) {
    step();
    const file = await nodeFiles.open(path, flags);
    return {
      async write(bytes, position) {
        step();
        const half = Math.floor(bytes.length / 2);
        await file.write(bytes.subarray(0, half), position);
        step();
        await file.write(bytes.subarray(half), position + half);
      },
      async sync() {
        step();
        await file.sync();
      },
      truncate: (length) => file.truncate(length),
      close: () => file.close(),
    };
  },
  async rename(from, to) {
    step();
    await nodeFiles.rename(from, to);
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

const store = await openLowdbStore(collections, { folder: folder!, files });
isRotating = true;
await rotateEncryptionKey(store, { dataDir: folder!, encryptionKey: presentKey }, parseEncryptionKey(newKey!, 'the new key'), files);
await store.close();
process.stdout.write('done');
