import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

const SCRIPT = fileURLToPath(new URL('../../scripts/licences.mjs', import.meta.url));

const PERMITTED = [
  'MIT',
  'MIT OR GPL-3.0',
  '(GPL-3.0 OR MIT)',
  'MIT AND ISC',
  'GPL-3.0 AND MIT OR ISC',
  '(GPL-3.0 AND MIT) OR ISC',
  'MIT AND (GPL-3.0 OR (ISC AND MIT))',
];
const REFUSED = [
  'GPL-3.0',
  'MIT AND GPL-3.0',
  'GPL-3.0 AND (ISC OR MIT)',
  '(ISC OR MIT) AND GPL-3.0',
  '(MIT AND (GPL-3.0 OR AGPL-3.0)) OR GPL-3.0',
  '(MIT',
  'MIT)',
  '',
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'licences-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('licences.mjs names the dependencies of the service whose licence is not permitted, and fails', async () => {
  // The script takes a lock file with few packages for one that it misread, and fails too.
  const licences = [...PERMITTED, ...REFUSED, ...Array<string>(50).fill('MIT')];
  // From 10, so that the script, which sorts the names, keeps the order of the list.
  const keys = licences.map((_, number) => `node_modules/package-${number + 10}`);
  const dependencies = Object.fromEntries(keys.map((key) => [key.split('/')[1], '1']));
  const packages = Object.fromEntries(keys.map((key, at) => [key, { license: licences[at] }]));
  const script = join(folder, 'scripts/licences.mjs');
  await mkdir(join(folder, 'scripts'));
  await copyFile(SCRIPT, script);
  const lock = { packages: { service: { dependencies }, ...packages } };
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock));
  const running = promisify(execFile)(process.execPath, [script]);
  const refused = REFUSED.map((licence, at) => `${keys[PERMITTED.length + at]}: ${licence}\n`);
  await expect(running).rejects.toMatchObject({ code: 1, stderr: refused.join('') });
});
