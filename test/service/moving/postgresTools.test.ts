// What is said when one of PostgreSQL's programs fails. A script stands in for the program.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { countDump } from '../../../service/src/moving/postgresTools.ts';

const { PATH } = process.env;
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postgres-tools-'));
  process.env.PATH = `${folder}${delimiter}${PATH}`;
});
afterEach(async () => {
  process.env.PATH = PATH;
  await rm(folder, { recursive: true });
});

const countWith = async (script: string) => {
  await writeFile(join(folder, 'pg_restore'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return countDump(join(folder, 'dump'));
};

it('names the error and not a warning before it', async () => {
  const warning = 'perl: warning: Setting locale failed.';
  const error = 'pg_restore: error: could not open input file';
  await expect(countWith(`echo '${warning}\n\n${error}' >&2; exit 1`)).rejects.toThrow(error);
});

it('gives the first line when no line is marked as an error', async () => {
  const script = "echo 'Error: PostgreSQL 17 is not installed\nsee its manual' >&2; exit 1";
  await expect(countWith(script)).rejects.toThrow(/^Error: PostgreSQL 17 is not installed$/);
});

it('names the signal that ended the program', async () => {
  await expect(countWith('kill -KILL $$')).rejects.toThrow('pg_restore ended with SIGKILL');
});
