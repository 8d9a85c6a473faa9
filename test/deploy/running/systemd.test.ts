import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../../service/src/app/config.ts';
import { findProgram } from './proxies.ts';

const deploy = fileURLToPath(new URL('../../../deploy/systemd', import.meta.url));
const analyze = findProgram('systemd-analyze');
const test = analyze === null ? it.skip : it;

describe('deploy/systemd', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'conversation-service-'));
    await cp(deploy, folder, { recursive: true });
    await rename(
      join(folder, 'conversation-service-api@.service'),
      join(folder, 'conversation-service-api@3001.service'),
    );
    await rename(
      join(folder, 'conversation-service-worker@.service'),
      join(folder, 'conversation-service-worker@3101.service'),
    );
    // systemd-analyze wants the program to exist.
    for (const name of await readdir(folder))
      await writeFile(
        join(folder, name),
        (await readFile(join(folder, name), 'utf8')).replaceAll('/usr/bin/node', process.execPath),
      );
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const verify = (name: string) =>
    new Promise<{ code: number; output: string }>((resolve) => {
      execFile(analyze!, ['verify', '--man=no', join(folder, name)], (error, out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code), output: out + err }),
      );
    });

  test.each([
    'conversation-service.service',
    'conversation-service-api@3001.service',
    'conversation-service-worker@3101.service',
    'conversation-service.target',
  ])('systemd finds nothing wrong with %s', async (name) => {
    expect(await verify(name)).toEqual({ code: 0, output: '' });
  });

  test('systemd would name a setting that does not exist', async () => {
    const text = await readFile(join(folder, 'conversation-service.service'), 'utf8');
    await writeFile(join(folder, 'wrong.service'), text.replace('StateDirectory=', 'StateFolder='));
    expect((await verify('wrong.service')).output).toContain('StateFolder');
  });

  it.each([
    ['conversation-service-api@3001.service', 'api', 3001],
    ['conversation-service-worker@3101.service', 'worker', 3101],
  ])(
    '%s gives the process its role and port, whatever the settings file says',
    async (name, role, port) => {
      const unit = await readFile(join(folder, name), 'utf8');
      const instance = /@(\d+)/.exec(name)![1]!;
      const assignments = /^ExecStart=\/usr\/bin\/env (.*?) \//m
        .exec(unit)![1]!
        .replaceAll('%i', instance)
        .split(' ');
      const fromUnit = Object.fromEntries(assignments.map((pair) => pair.split('=')));
      expect(
        readConfig({
          DATABASE_URL: 'postgres://localhost/x',
          ENCRYPTION_KEY: 'a'.repeat(64),
          PUBLIC_URL: 'https://conversations.example.com',
          PORT: '1',
          ...fromUnit,
        }),
      ).toMatchObject({ role, port, host: '127.0.0.1' });
    },
  );
});
