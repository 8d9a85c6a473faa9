// Rotates the encryption key of the data folder named by the first argument, and is killed
// (SIGKILL) before the nth thing that it does to the disk, n being the second argument. Says `done`
// when it gets to its end.
import { rotateEncryptionKey } from '../../../../service/src/app/encryption/rotateEncryptionKey.ts';
import { collections } from '../../../../service/src/app/collections.ts';
import { parseEncryptionKey } from '../../../../service/src/platform/security/encryptionKey.ts';
import { openLowdbStore } from '../../../../service/src/store/lowdb/index.ts';
import { filesInSteps } from '../../../helpers/filesInSteps.ts';

const [, , folder, nth, newKey, presentKey] = process.argv;
let left = Number(nth);
let isRotating = false;
const step = () => void (isRotating && --left <= 0 && process.kill(process.pid, 'SIGKILL'));

const files = filesInSteps(step);

const store = await openLowdbStore(collections, { folder: folder!, files });
isRotating = true;
await rotateEncryptionKey(
  store,
  { dataDir: folder!, encryptionKey: presentKey },
  parseEncryptionKey(newKey!, 'the new key'),
  files,
);
await store.close();
process.stdout.write('done');
