// Arguments: a folder and a file. Writes into the store in the folder until it is killed, and appends
// a line to the file for each commit that the store has acknowledged: `<writer> <number>`. A kill
// loses nothing of a file; of a pipe, it would lose what was not sent yet.
import { openSync, writeSync } from 'node:fs';
import { openLowdbStore } from '../../../service/src/store/lowdb/index.ts';
import { contractSchema, thing } from '../../contract/schema.ts';

const WRITERS = 16;
const ledger = openSync(process.argv[3]!, 'a');
// Small enough that many kills hit a snapshot or a rotation.
const store = await openLowdbStore(contractSchema, {
  folder: process.argv[2]!,
  snapshotAfterBytes: 100_000,
});

const write = async (writer: number): Promise<never> => {
  for (;;) {
    const number = await store.transaction(async (tx) => {
      const next = ((await tx.things.get(`left-${writer}`))?.number ?? 0) + 1;
      await tx.things.put(thing(`left-${writer}`, { number: next, note: 'x'.repeat(next % 500) }));
      await tx.things.put(thing(`right-${writer}`, { number: next }));
      await tx.jobs.complete(`job-${writer}-${next - 1}`);
      await tx.jobs.enqueue({
        id: `job-${writer}-${next}`,
        queue: 'q',
        group: 'g',
        runAt: 0,
        rank: 0,
        data: {},
      });
      return next;
    });
    writeSync(ledger, `${writer} ${number}\n`);
  }
};

await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
