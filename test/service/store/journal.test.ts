import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { StoreDamaged, openLowdbStore } from '../../../service/src/store/lowdb/index.ts';
import { all, contractSchema, put, thing } from '../../contract/schema.ts';
import { listeningLog } from './listeningLog.ts';

describe('journal', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'conversation-journal-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const journal = (generation = 1) => join(folder, `journal-${generation}.log`);
  const notePath = () => join(folder, 'acknowledged.json');
  const open = (log = listeningLog()) => openLowdbStore(contractSchema, { folder, log });
  const ids = async () => {
    const store = await open();
    const things = await all(store);
    await store.close();
    return things.map(({ id }) => id).join('');
  };
  const putAll = async (...added: string[]) => {
    const store = await open();
    for (const id of added) await put(store, thing(id));
    await store.close();
  };
  /**
   * Removes the note of how far the journal goes. A loss of power can leave a folder without the
   * note, and so can a process that dies before its first frame.
   */
  const removeNote = () => rm(notePath(), { force: true });
  /**
   * Writes three frames, `a`, `b` and `c`, and removes their note.
   * @returns the journal and where each frame begins
   */
  const writeThree = async () => {
    await putAll('a', 'b', 'c');
    await removeNote();
    const bytes = await readFile(journal());
    const starts = [...bytes.keys()].filter((at) => bytes[at] === 0x1e);
    expect(starts).toHaveLength(3);
    return { bytes, starts: starts as [number, number, number] };
  };
  const refusal = async (): Promise<StoreDamaged> => {
    const outcome = await open().catch((reason: unknown) => reason);
    expect(outcome).toBeInstanceOf(StoreDamaged);
    return outcome as StoreDamaged;
  };

  it('cuts the last frame wherever it is torn, and goes on writing behind the good part', async () => {
    const { bytes, starts } = await writeThree();
    for (let length = starts[2] + 1; length < bytes.length; length += 1) {
      await removeNote();
      await writeFile(journal(), bytes.subarray(0, length));
      expect(await ids()).toBe('ab');
      expect((await stat(journal())).size).toBe(starts[2]);
    }
    await removeNote();
    await writeFile(journal(), bytes.subarray(0, starts[2] + 9));
    await putAll('z');
    expect(await ids()).toBe('abz');
  });

  it('cuts the last frame wherever NULs begin in it', async () => {
    const { bytes, starts } = await writeThree();
    for (let from = starts[2]; from < bytes.length; from += 1) {
      const zeros = Buffer.alloc(bytes.length - from + 4096);
      await writeFile(journal(), Buffer.concat([bytes.subarray(0, from), zeros]));
      expect(await ids()).toBe('ab');
      expect((await stat(journal())).size).toBe(starts[2]);
    }
  });

  it('says what it cut', async () => {
    const { bytes, starts } = await writeThree();
    await writeFile(journal(), bytes.subarray(0, bytes.length - 1));
    const log = listeningLog();
    await (await open(log)).close();
    expect(log.lines.join()).toContain(
      `journal-1.log ends in an unfinished frame at byte ${starts[2]}`,
    );
  });

  it('refuses to start for damage anywhere before the last frame, and changes nothing', async () => {
    const { bytes, starts } = await writeThree();
    for (let at = 0; at < starts[2]; at += 1) {
      const damaged = Buffer.from(bytes);
      damaged[at] = damaged[at]! ^ 0x01;
      await writeFile(journal(), damaged);
      const { file, position, message } = await refusal();
      expect({ file, position }).toEqual({
        file: 'journal-1.log',
        position: at < starts[1] ? 0 : starts[1],
      });
      expect(message).toMatch(/journal-1\.log, byte \d+.*backup.*truncate -s/);
      expect(await readFile(journal())).toEqual(damaged);
    }
  });

  it('is opened again once the advice of its refusal was followed', async () => {
    const { bytes, starts } = await writeThree();
    bytes[starts[1] + 5]! ^= 0xff;
    await writeFile(journal(), bytes);
    const { position, message } = await refusal();
    expect(message).toContain('acknowledged.json');
    await writeFile(journal(), bytes.subarray(0, position));
    expect(await ids()).toBe('a');
  });

  it('refuses to start when a frame is missing', async () => {
    const { bytes, starts } = await writeThree();
    const [first, last] = [bytes.subarray(0, starts[1]), bytes.subarray(starts[2])];
    await writeFile(journal(), Buffer.concat([first, last]));
    expect(await refusal()).toMatchObject({ file: 'journal-1.log', position: starts[1] });
  });

  it('does not take damage for a torn end when a later journal goes on', async () => {
    const { bytes, starts } = await writeThree();
    await writeFile(journal(), bytes.subarray(0, starts[2] - 1));
    await writeFile(journal(2), bytes.subarray(starts[2]));
    expect(await refusal()).toMatchObject({ file: 'journal-1.log', position: starts[1] });
  });

  it('reads journals one after the other, an empty one among them', async () => {
    const { bytes, starts } = await writeThree();
    await writeFile(journal(), bytes.subarray(0, starts[2]));
    await writeFile(journal(2), '');
    await writeFile(journal(3), bytes.subarray(starts[2]));
    expect(await ids()).toBe('abc');
    await rm(journal(2));
    expect(await refusal()).toMatchObject({ file: 'journal-2.log' });
  });

  it('is not deceived by text that looks like a frame', async () => {
    const { bytes } = await writeThree();
    const store = await open();
    await put(store, thing('d', { note: bytes.toString('latin1') }));
    await store.close();
    const whole = await readFile(journal());
    await removeNote();
    await writeFile(journal(), whole.subarray(0, whole.length - 2));
    expect(await ids()).toBe('abc');
  });

  it('does not take damage for a torn end when another journal was begun after it, even an empty one', async () => {
    const { bytes, starts } = await writeThree();
    const torn = bytes.subarray(0, bytes.length - 1);
    await writeFile(journal(), torn);
    await writeFile(journal(2), '');
    expect(await refusal()).toMatchObject({ file: 'journal-1.log', position: starts[2] });
    expect(await readFile(journal())).toEqual(torn);
  });

  describe('whose acknowledged frames are noted beside it', () => {
    const writeFour = async () => {
      const { starts } = await writeThree();
      await putAll('d');
      return { bytes: await readFile(journal()), starts };
    };

    it.each([
      ['is cut off between two frames', (bytes: Buffer, at: number) => bytes.subarray(0, at)],
      ['is empty', () => Buffer.alloc(0)],
      ['is filled with NULs', (bytes: Buffer) => Buffer.alloc(bytes.length)],
      [
        'has its last two frames damaged',
        (bytes: Buffer, at: number) =>
          Buffer.from(bytes)
            .fill('?', at + 2, at + 4)
            .fill('?', bytes.length - 4, bytes.length - 2),
      ],
      [
        'has a wrong byte in its last frame',
        (bytes: Buffer) =>
          Buffer.concat([bytes.subarray(0, -3), Buffer.from('?'), bytes.subarray(-2)]),
      ],
    ] as const)(
      'stops the start when it %s, and nothing is changed; its advice helps',
      async (_what, damage) => {
        const { bytes, starts } = await writeFour();
        const damaged = damage(bytes, starts[2]);
        await writeFile(journal(), damaged);
        const { file, message } = await refusal();
        expect(file).toBe('journal-1.log');
        expect(message).toMatch(
          /everything up to frame 4 was acknowledged \(journal-1\.log, byte \d+\).*backup.*remove the file acknowledged\.json/,
        );
        expect(await readFile(journal())).toEqual(damaged);
        await removeNote();
        expect('abcd').toContain(await ids());
      },
    );

    it('stops the start when it is gone', async () => {
      await writeFour();
      await rm(journal());
      expect(await refusal()).toMatchObject({ file: 'journal-1.log', position: 0 });
      expect(await readdir(folder)).not.toContain('journal-1.log');
    });

    it('is cut at a torn frame that was not acknowledged', async () => {
      const { bytes, starts } = await writeFour();
      await writeFile(journal(), Buffer.concat([bytes, bytes.subarray(starts[2], starts[2] + 30)]));
      expect(await ids()).toBe('abcd');
    });

    it('is read to its end when the note is damaged, or is an earlier note', async () => {
      await writeFour();
      const latest = await readFile(notePath(), 'utf8');
      await putAll('e');
      for (const text of ['', 'null', '{"nextSequence":9,"crc":1}', '\u0000\u0000', latest]) {
        await writeFile(notePath(), text);
        expect(await ids()).toBe('abcde');
      }
    });

    it('has them noted while the store is at work, before each answer', async () => {
      const store = await open();
      for (const [n, id] of ['a', 'b', 'c'].entries()) {
        await put(store, thing(id));
        const note = JSON.parse(await readFile(notePath(), 'utf8'));
        expect(note).toMatchObject({ nextSequence: n + 2 });
      }
      await store.close();
    });
  });

  it('passes on errors of reading instead of starting empty', async () => {
    await writeThree();
    await rm(journal());
    await mkdir(journal());
    await expect(open()).rejects.toThrow(/EISDIR/);
  });

  it('makes the folder and its files for their owner only', async () => {
    const nested = join(folder, 'new', 'data');
    const store = await openLowdbStore(contractSchema, { folder: nested });
    await put(store, thing('a'));
    await store.close();
    expect((await stat(nested)).mode & 0o777).toBe(0o700);
    for (const name of await readdir(nested))
      expect([name, (await stat(join(nested, name))).mode & 0o777]).toEqual([name, 0o600]);
  });
});
