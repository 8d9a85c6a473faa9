import { cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { StoreDamaged, nodeFiles, openLowdbStore } from '../../../service/src/store/lowdb/index.ts';
import { openInTemporaryFolder } from '../../contract/openInTemporaryFolder.ts';
import { all, contractSchema, put, thing } from '../../contract/schema.ts';
import { waitFor } from '../../helpers/waitFor.ts';

type Damage = (bytes: Buffer, at: number, length: number) => Buffer;
const damages: Record<string, Damage> = {
  'one bit flipped': (bytes, at, length) => {
    bytes[at]! ^= 1 << length % 8;
    return bytes;
  },
  'some bytes zeroed': (bytes, at, length) =>
    bytes.fill(0, at, Math.min(bytes.length, at + length)),
  'some bytes cut out': (bytes, at, length) =>
    Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]),
  'bytes put in': (bytes, at, length) =>
    Buffer.concat([bytes.subarray(0, at), Buffer.alloc(length, 'y'), bytes.subarray(at)]),
  'cut off': (bytes, at) => bytes.subarray(0, at),
};

/** A folder with two snapshots and the journals since the older, closed in order. */
describe('whatever happens to one file of a closed data folder', () => {
  let pristine: string;
  let names: string[];
  const whole = new Map<string, Buffer>();
  let written: unknown;

  beforeAll(async () => {
    // In this thread: while a snapshot thread starts, the folder would grow a hundredfold.
    const files = { ...nodeFiles };
    const opened = await openInTemporaryFolder({ snapshotAfterBytes: 3_000, files });
    const namesNow = () => readdir(opened.folder);
    const snapshots = async () =>
      (await namesNow()).filter((name) => /^snapshot-.*\.ndjson$/.test(name));
    for (let n = 0; n <= 61 || (await snapshots()).length !== 2; n += 1)
      await put(opened.store, thing(`thing-${n % 23}`, { number: n, note: 'ä'.repeat(n % 60) }));
    await waitFor(
      'the snapshot',
      async () => !(await namesNow()).some((name) => name.endsWith('.tmp')),
    );
    for (let n = 0; n < 3; n += 1) await put(opened.store, thing(`late-${n}`));
    written = await all(opened.store);
    await opened.store.close();
    pristine = await mkdtemp(join(tmpdir(), 'conversation-damage-'));
    await cp(opened.folder, pristine, { recursive: true });
    await opened.remove();
    names = (await readdir(pristine)).filter((name) => /^(journal|snapshot)-/.test(name));
    for (const name of names) whole.set(name, await readFile(join(pristine, name)));
  });
  afterAll(() => rm(pristine, { recursive: true, force: true }));

  it('the start loses nothing, or refuses with file and position and changes nothing', async () => {
    const some = fc.record({
      file: fc.nat(),
      at: fc.nat(),
      length: fc.integer({ min: 1, max: 64 }),
      kind: fc.constantFrom(...Object.keys(damages)),
    });
    const folder = await mkdtemp(join(tmpdir(), 'conversation-damage-'));
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(some, async ({ file, at, length, kind }) => {
        const name = names[file % names.length]!;
        const bytes = whole.get(name)!;
        fc.pre(bytes.length > 0);
        const damaged = damages[kind]!(Buffer.from(bytes), at % bytes.length, length);
        fc.pre(!damaged.equals(bytes));
        await rm(folder, { recursive: true });
        await cp(pristine, folder, { recursive: true });
        await writeFile(join(folder, name), damaged);
        const store = await openLowdbStore(contractSchema, { folder }).catch((error: unknown) => {
          if (error instanceof StoreDamaged) return error;
          throw error;
        });
        if (store instanceof StoreDamaged) {
          refused += 1;
          expect(store.message).toContain(`${store.file}, byte ${store.position}`);
          expect(store.message).toMatch(/backup/);
          expect(await readFile(join(folder, name))).toEqual(damaged);
          return;
        }
        try {
          expect(await all(store)).toEqual(written);
        } finally {
          await store.close();
        }
      }),
      { numRuns: 80 },
    );
    expect(refused).toBeGreaterThan(10);
    await rm(folder, { recursive: true, force: true });
  }, 180_000);
});
