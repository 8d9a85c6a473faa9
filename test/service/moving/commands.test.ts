import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { BARE_ENV, MAIN } from '../../helpers/program.ts';
import {
  MovingStage,
  otherKey,
  recordsOf,
  refused,
  succeeded,
  type DataPlace,
} from './movingStage.ts';

const TIMEOUT_MS = 120_000;

describe('export and import, as commands', () => {
  let stage: MovingStage;
  /** A place whose service has been used for a moment, and its export. */
  let place: DataPlace;
  let file: string;
  let keyOfPlace: string;
  beforeAll(async () => {
    stage = await MovingStage.open();
    place = stage.folderPlace();
    file = await stage.use(place);
    keyOfPlace = await stage.keyOf(place);
  }, TIMEOUT_MS);
  afterEach(() => stage.stop('killed'));
  afterAll(() => stage.close());

  it(
    'refuse a data folder that a service has open, and name its process',
    async () => {
      await stage.startUsed(place);
      refused(
        await stage.command(place, ['export', '--to', `${file}.2`]),
        /is in use by process \d+\. Stop that process first/,
      );
      refused(
        await stage.commandHere(place, ['import', '--from', file], { ENCRYPTION_KEY: keyOfPlace }),
        /is in use by process \d+/,
      );
      expect(existsSync(`${file}.2`)).toBe(false);
    },
    TIMEOUT_MS,
  );

  it(
    'refuse another key before anything is made, and say where the right one goes',
    async () => {
      const to = stage.folderPlace();
      const at = join(to.folder!, 'encryption.key');
      refused(
        await stage.commandHere(to, ['import', '--from', file]),
        new RegExp(
          `The secrets are sealed with the key with fingerprint [0-9a-f]{16}, and there is none in ${to.folder}\\. Put that key into ${at} \\(mode 0600\\), or set ENCRYPTION_KEY to it\\. It is the key of the service that the data comes from`,
        ),
      );
      expect(existsSync(to.folder!)).toBe(false);
      refused(
        await stage.commandHere(to, ['import', '--from', file], { ENCRYPTION_KEY: otherKey() }),
        /and ENCRYPTION_KEY is another one \([0-9a-f]{16}\)\. Set ENCRYPTION_KEY to the key of the service that the data comes from/,
      );
      expect(existsSync(to.folder!)).toBe(false);
      await mkdir(to.folder!);
      await writeFile(at, otherKey());
      refused(
        await stage.commandHere(to, ['import', '--from', file]),
        /encryption\.key is another \([0-9a-f]{16}\)/,
      );
      expect(await readdir(to.folder!)).toEqual(['encryption.key']);

      await writeFile(at, keyOfPlace, { mode: 0o600 });
      succeeded(await stage.commandHere(to, ['import', '--from', file]));
      expect(await stage.keyOf(to)).toBe(keyOfPlace);
    },
    TIMEOUT_MS,
  );

  it(
    'refuse a place that holds something, a folder that is not there, and a file that is',
    async () => {
      refused(
        await stage.commandHere(place, ['import', '--from', file]),
        /is not empty: it holds \w+\. An import needs an empty one, before the first start\. Set DATA_DIR to a new folder/,
      );
      refused(
        await stage.commandHere(place, ['export', '--to', file]),
        /already exists, and an export never replaces a file/,
      );
      const nowhere = stage.folderPlace();
      refused(
        await stage.commandHere(nowhere, ['export', '--to', `${file}.2`]),
        /There is nothing to export: the data folder .* is empty\. Check that DATA_DIR or DATABASE_URL/,
      );
      expect(existsSync(nowhere.folder!)).toBe(false);
      refused(
        await stage.commandHere(place, ['export', '--to', join(stage.folder, 'no', 'folder')]),
        /cannot be written: ENOENT/,
      );
      refused(
        await stage.commandHere(nowhere, ['import', '--from', `${file}.3`]),
        /cannot be read: ENOENT/,
      );
      refused(
        await stage.commandHere(nowhere, ['import', '--from', stage.folder]),
        /is a folder, and an export is a file\. A backup is read by `restore`/,
      );
      expect((await readdir(dirname(file))).filter((name) => name.startsWith('export'))).toEqual([
        'export.ndjson',
      ]);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    },
    TIMEOUT_MS,
  );

  it(
    'refuse a file that was cut, and then take the whole one',
    async () => {
      const whole = await readFile(file);
      const to = stage.folderPlace(keyOfPlace);
      const given = (input: Buffer) => stage.command(to, ['import', '--from', '-'], { input });
      refused(
        await given(whole.subarray(0, whole.length / 2)),
        /^conversation-service: Standard input cannot be imported, and nothing was stored\. It ends in the middle of record \d+, .*: it was cut off/,
      );
      await stage.expectEmpty(to);
      const imported = await given(whole);
      succeeded(imported);
      const again = await stage.command(to, ['export', '--to', '-']);
      expect(recordsOf(again.out)).toEqual(recordsOf(whole.toString()));
      // Standard output holds the export alone, so the summary goes to standard error.
      expect(again.err).toMatch(
        /^Exported the data folder [^\n]+:\n(?: {2}\w.*\n)+Its secrets stay sealed\. To import it, you need the same key/,
      );
    },
    TIMEOUT_MS,
  );

  (process.platform === 'linux' ? it : it.skip)(
    'on a full disk leave no file, and say so',
    async () => {
      // The folder then holds a snapshot, so opening it writes nothing that could fail.
      const to = stage.folderPlace(keyOfPlace);
      succeeded(await stage.commandHere(to, ['import', '--from', file]));
      const limited = join(stage.folder, 'limited.ndjson');
      const exportBy = async (script: string, target: string) => {
        const shell = spawn(
          'sh',
          ['-c', script, process.execPath, MAIN, 'export', '--to', target],
          {
            env: { ...BARE_ENV, ...to.env },
            stdio: ['ignore', 'ignore', 'pipe'],
          },
        );
        const [err, [code]] = await Promise.all([text(shell.stderr), once(shell, 'exit')]);
        return [code, err];
      };
      // The operating system lets no file grow past a block of 512 or 1024 bytes.
      expect(await exportBy('ulimit -f 1; exec "$0" "$@"', limited)).toEqual([
        1,
        expect.stringMatching(
          /limited\.ndjson cannot be written: the file would grow past the allowed size \(EFBIG\)\. No file was created\.\n$/,
        ),
      ]);
      expect((await readdir(stage.folder)).filter((name) => name.includes('limited'))).toEqual([]);
      expect(await exportBy('exec "$0" "$@" > /dev/full', '-')).toEqual([
        1,
        expect.stringMatching(
          /Standard output cannot be written: no space is left on the disk \(ENOSPC\)\. What was written is not a complete export\.\n$/,
        ),
      ]);
    },
    TIMEOUT_MS,
  );

  it(
    'leave nothing in a folder when they are killed, and then take everything',
    async () => {
      const to = stage.folderPlace(keyOfPlace);
      await (await stage.beginImport(to, await readFile(file))).kill();
      await stage.expectEmpty(to);
      expect((await readdir(to.folder!)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
      succeeded(await stage.commandHere(to, ['import', '--from', file]));
    },
    TIMEOUT_MS,
  );
});
