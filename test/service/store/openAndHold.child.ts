// Opens the store in the folder named by the first argument, says so, and holds it until it is
// killed.
import { openLowdbStore } from '../../../service/src/store/lowdb/index.ts';
import { contractSchema } from '../../contract/schema.ts';

await openLowdbStore(contractSchema, { folder: process.argv[2]! });
process.stdout.write('open\n');
setInterval(() => {}, 60_000);
