// The file that an export writes: whole under its name, or not there.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { makeNewFile } from '../../../service/src/moving/newFile.ts';
import { nodeFiles } from '../../../service/src/platform/files.ts';
import { diskError } from '../store/breakableFiles.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'conversation-service-'));
});
afterEach(async () => {
  jest.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

const make = (path: string) =>
  makeNewFile(path, async (write) => {
    await write(Buffer.from('whole'));
    return true;
  });

describe('a new file', () => {
  it('is there, whole and alone', async () => {
    const path = join(folder, 'export.ndjson');
    await make(path);
    expect(await readFile(path, 'utf8')).toBe('whole');
    expect(await readdir(folder)).toEqual(['export.ndjson']);
  });

  it('is not there when its folder cannot be written to the disk, as the error says', async () => {
    jest.spyOn(nodeFiles, 'syncFolder').mockRejectedValueOnce(diskError('EIO'));
    await expect(make(join(folder, 'export.ndjson'))).rejects.toThrow(/No file was created\./);
    expect(await readdir(folder)).toEqual([]);
  });
});
