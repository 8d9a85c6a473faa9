// Writes into a store on a disk that becomes full, again and again, and checks that nothing
// acknowledged is lost. Arguments: the folder, and optionally a file whose removal makes room
// again. Without that file, the size of each file is limited (ulimit -f), and the next journal file
// has room again.
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLowdbStore } from '../../../service/src/store/lowdb/index.ts';
import { StoreUnavailable } from '../../../service/src/store/store.ts';
import { contractSchema, put, thing } from '../../contract/schema.ts';

const [, , folder, ballast] = process.argv as [string, string, string, string | undefined];
const OUTAGES = ballast === undefined ? 3 : 1;
const open = () => openLowdbStore(contractSchema, { folder, retryMs: 50 });

let store = await open();
const acknowledged = new Map<string, number>();
const faults: string[] = [];

const writeUntilFull = async (writer: number): Promise<void> => {
  for (let number = (acknowledged.get(`w${writer}`) ?? 0) + 1; ; number += 1) {
    try {
      await put(store, thing(`w${writer}`, { number, note: 'x'.repeat(5_000) }));
      acknowledged.set(`w${writer}`, number);
    } catch (error) {
      if (error instanceof StoreUnavailable) return;
      throw error;
    }
  }
};

for (let outage = 0; outage < OUTAGES; outage += 1) {
  await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(writeUntilFull));
  faults.push(store.fault ?? 'gone already');
  if (ballast !== undefined) {
    await sleep(300); // Several attempts to recover, in vain.
    faults.push(store.fault ?? 'it should not have recovered yet');
    await rm(ballast);
  }
  while (store.fault !== null) await sleep(10);
  await check('after the outage');
  await put(store, thing('after', { number: outage }));
}
await store.close();
store = await open();
await check('after a restart');
await store.close();
process.stdout.write(JSON.stringify({ acknowledged: Math.min(...acknowledged.values()), faults }));

async function check(when: string): Promise<void> {
  for (const [id, number] of acknowledged) {
    const kept = await store.transaction((tx) => tx.things.get(id));
    if (kept?.number !== number)
      throw new Error(`${when}: ${id} should be ${number} and is ${kept?.number}`);
  }
}
