// Imports the export named by the second argument into the folder named by the first, and is killed
// (SIGKILL) before the nth thing that it does to the disk, n being the third argument. Says `done`
// when it gets to its end.
import { createReadStream } from 'node:fs';
import { openLowdbStore } from '../../../service/src/store/lowdb/index.ts';
import { ExportReader } from '../../../service/src/moving/exportFormat.ts';
import { filesInSteps } from '../../helpers/filesInSteps.ts';
import { contractSchema } from '../../contract/schema.ts';

const [, , folder, file, nth] = process.argv;
let left = Number(nth);
const step = () => void (--left <= 0 && process.kill(process.pid, 'SIGKILL'));

const files = filesInSteps(step);

const store = await openLowdbStore(contractSchema, { folder: folder!, files });
const reader = await ExportReader.open(createReadStream(file!));
await store.restore(reader.records());
await store.close();
process.stdout.write('done');
