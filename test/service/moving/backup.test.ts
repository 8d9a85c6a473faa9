// Backups as an operator makes them: while the service works, and back after everything was lost.
import { execFileSync } from 'node:child_process';
import {
  appendFile,
  chmod,
  chown,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { makeBackup } from '../../../service/src/moving/backup.ts';
import { dumpDatabase } from '../../../service/src/moving/postgresTools.ts';
import { startWriters } from '../../chaos/writers.ts';
import { apiClient } from '../../helpers/apiClient.ts';
import type { Ended } from '../../helpers/commandHere.ts';
import { openStoreOf } from '../../helpers/openStore.ts';
import { testDatabaseUrl } from '../../helpers/storage.ts';
import { sharedTestCa, writeTlsFiles } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { postgresUser } from '../../postgres/programs.ts';
import { dropSchema } from '../../postgres/schemas.ts';
import { startPostgres } from '../../postgres/server.ts';
import {
  API_KEY,
  MovingStage,
  otherKey,
  recordsOf,
  refused,
  succeeded,
  type DataPlace,
} from './movingStage.ts';

type BackupMade = Awaited<ReturnType<typeof makeBackup>>;

const TIMEOUT_MS = 180_000;
const onPostgres = testDatabaseUrl() === null ? it.skip : it;
const LAST_LINE = /^ {2}sha256 {2}(\S+)$/m;

describe('backup, verify and restore', () => {
  let stage: MovingStage;
  let backups = 0;
  beforeAll(async () => {
    stage = await MovingStage.open();
  });
  afterEach(() => stage.stop('killed'));
  afterAll(() => stage.close());

  const place = (): DataPlace =>
    testDatabaseUrl() === null ? stage.folderPlace() : stage.databasePlace(otherKey());
  const newFolder = () => join(stage.folder, `backups-${(backups += 1)}`);
  /** @returns the folder of the one backup there */
  const madeIn = async (to: string, ended: Ended): Promise<string> => {
    succeeded(ended);
    const [made] = await readdir(to);
    return join(to, made!);
  };
  /** @returns the new backup's folder */
  const backUp = async (from: DataPlace): Promise<string> => {
    const to = newFolder();
    return madeIn(to, await stage.command(from, ['backup', '--to', to]));
  };
  const verify = (backup: string, from: DataPlace) => stage.command(from, ['verify', backup]);
  const restore = (backup: string, to: DataPlace) =>
    stage.command(to, ['restore', '--from', backup]);
  const destroy = async ({ folder, env }: DataPlace): Promise<void> => {
    if (folder === null) await dropSchema(testDatabaseUrl()!, env['DATABASE_SCHEMA']!);
    else await rm(folder, { recursive: true });
  };

  it(
    'bring back every message that was acknowledged before the backup, each with its event',
    async () => {
      const home = place();
      await stage.startUsed(home);
      // Nobody answers at its address: the backup holds all the deliveries that it is owed.
      const hook = {
        event: 'message.received',
        target_url: 'https://127.0.0.1:9/hook',
        source: 'one\u2028two', // a line separator, which PostgreSQL leaves as it is in a dump
      };
      expect((await apiClient(stage.url, API_KEY).post('/api/hooks', hook)).status).toBe(201);
      const writers = await startWriters([stage.url], API_KEY);
      const { received } = writers.acknowledged;
      await waitFor('messages', () => received.size > 60, { timeoutMs: 60_000 });
      const before = new Set(received.keys());
      const backup = await backUp(home);
      const during = received.size;
      await waitFor('more messages', () => received.size > during + 20, { timeoutMs: 60_000 });
      await writers.stop();
      await stage.stop('killed');
      await destroy(home);

      const verified = await verify(backup, home);
      succeeded(verified);
      expect(verified.out).toMatch(/^ {2}subscriptions +1$/m);
      const restored = await restore(backup, home);
      succeeded(restored);
      if (home.folder !== null)
        expect(LAST_LINE.exec(restored.out)![1]).toBe(LAST_LINE.exec(verified.out)![1]);

      const file = join(stage.folder, 'restored.ndjson');
      succeeded(await stage.commandHere(home, ['export', '--to', file]));
      const exported = recordsOf(await readFile(file, 'utf8')).map(
        (line) => JSON.parse(line) as { collection?: string; document?: Record<string, unknown> },
      );
      const rows = (collection: string) =>
        exported.flatMap(({ collection: of, document }) =>
          of === collection && document !== undefined ? [document] : [],
        );
      const messages = rows('messages').filter((message) => message['direction'] === 'inbound');
      const ids = messages.map((message) => String(message['id']));
      expect([...before].filter((id) => !ids.includes(id))).toEqual([]);
      expect(ids.filter((id) => !received.has(id))).toEqual([]);
      expect(ids.length).toBeLessThan(received.size);
      const announced = rows('events')
        .filter((event) => event['name'] === 'message.received')
        .map(
          (event) => (JSON.parse(String(event['body'])) as { message: { id: string } }).message.id,
        );
      expect(announced.sort()).toEqual([...ids].sort());
      const owed = rows('deliveries').map((delivery) => delivery['eventId']);
      expect(owed.sort()).toEqual(
        rows('events')
          .map((event) => event['id'])
          .sort(),
      );

      await stage.start(home, {});
      const stored = await writers.readAll();
      expect(stored.map(({ id }) => id)).toEqual(expect.arrayContaining([...before]));
      const { status } = await apiClient(stage.url, API_KEY).get('/api/conversations');
      expect(status).toBe(200);
    },
    TIMEOUT_MS,
  );

  onPostgres(
    'look for a database where its URL says: an IPv6 address in brackets, or in the query',
    async () => {
      for (const url of ['postgres://u:p@[::1]:1/db', 'postgres:///db?host=::1&port=1&user=u'])
        await expect(
          dumpDatabase({ url, schema: 's' }, join(stage.folder, 'dump')),
        ).rejects.toThrow(/server at "::1", port 1/);
    },
  );

  onPostgres(
    'replace no schema of a database, whatever language its server speaks',
    async () => {
      const home = stage.databasePlace(otherKey());
      expect((await stage.command(home, ['key', 'create', '--name', 'n8n'])).code).toBe(0);
      const backup = await backUp(home);
      refused(await restore(backup, home), /The database is not empty \(.*already exists/);
      const words = 'FEHLER: Schema existiert bereits';
      const program = join(stage.folder, 'pg_restore');
      await writeFile(program, `#!/bin/sh\necho '${words}' >&2\nexit 1\n`, { mode: 0o755 });
      const env = { PATH: `${stage.folder}:${process.env.PATH}` };
      refused(
        await stage.command(home, ['restore', '--from', backup], { env }),
        /The database is not empty \(FEHLER: .*\)\. Restore into another one/,
      );
      await chmod(program, 0o644);
      refused(
        await stage.command(home, ['restore', '--from', backup], { env: { PATH: stage.folder } }),
        /: pg_restore could not be started \(spawn pg_restore EACCES\)/,
      );
      await chmod(program, 0o755);
      await destroy(home);
      refused(await stage.command(home, ['restore', '--from', backup], { env }), /: FEHLER: /);
    },
    TIMEOUT_MS,
  );

  onPostgres(
    'are refused when the key was changed before the dump was made',
    async () => {
      const home = stage.databasePlace(otherKey());
      await stage.startUsed(home);
      await stage.stop();
      const key = join(stage.folder, 'next.key');
      await writeFile(key, otherKey());
      // In place of pg_dump, a program that tells that it was started, and goes on when it may.
      const programs = join(stage.folder, 'held');
      const [begun, mayGoOn] = ['begun', 'may-go-on'].map((name) => join(programs, name)) as [
        string,
        string,
      ];
      await mkdir(programs);
      const script = `#!/bin/sh\ntouch ${begun}\nwhile [ -e ${begun} ] && [ ! -e ${mayGoOn} ]; do sleep 0.05; done\nPATH="$REST" exec pg_dump "$@"\n`;
      await writeFile(join(programs, 'pg_dump'), script, { mode: 0o755 });
      const rest = process.env.PATH!;
      const env = { PATH: `${programs}:${rest}`, REST: rest };
      const to = newFolder();
      const ended = stage.command(home, ['backup', '--to', to], { env });
      await waitFor('pg_dump', async () => (await readdir(programs)).includes('begun'));
      succeeded(await stage.command(home, ['rotate-encryption-key', '--new-key-file', key]));
      await writeFile(mayGoOn, '');
      refused(await ended, /The encryption key was changed .* Run the command again/);
      expect(await readdir(to)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  onPostgres(
    'check the server’s certificate by the authorities that the service trusts',
    async () => {
      const tls = await writeTlsFiles(await sharedTestCa());
      const { uid, gid } = postgresUser() ?? {};
      for (const path of [tls.folder, tls.certFile, tls.keyFile])
        if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
      const server = await startPostgres({
        fsync: false,
        settings: { ssl: 'on', ssl_cert_file: tls.certFile, ssl_key_file: tls.keyFile },
      });
      try {
        const { env } = stage.databasePlace(otherKey());
        const url = `${server.url}?sslmode=verify-full`;
        const home = {
          folder: null,
          env: { ...env, DATABASE_URL: url, NODE_EXTRA_CA_CERTS: tls.caFile },
        };
        expect((await stage.command(home, ['key', 'create', '--name', 'n8n'])).code).toBe(0);
        await backUp(home);
        // This process trusts no authority of the tests.
        const dump = (query: string) =>
          dumpDatabase(
            { url: `${server.url}?${query}`, schema: env['DATABASE_SCHEMA']! },
            join(stage.folder, 'dump'),
          );
        for (const checked of ['sslmode=verify-full', 'sslmode=require', 'ssl=true'])
          await expect(dump(checked)).rejects.toThrow(/certificate verify failed/);
        const ca = encodeURIComponent(tls.caFile);
        for (const query of ['uselibpqcompat=true&sslmode=require', `sslrootcert=${ca}`])
          await expect(dump(query)).resolves.toBeUndefined();
      } finally {
        await server.stop();
        await tls.remove();
      }
    },
    TIMEOUT_MS,
  );

  it('share no folder when two are made in the same second', async () => {
    const at = new Date();
    const to = join(stage.folder, 'same-second');
    const making = Array.from({ length: 2 }, (_, n) =>
      makeBackup(to, at, async (folder) => {
        await writeFile(join(folder, `file-${n}`), 'all of it');
        return { store: 'folder', schema: null, key_fingerprint: null, names: [`file-${n}`] };
      }),
    );
    const ended = await Promise.allSettled(making);
    const made = ended.filter(({ status }) => status === 'fulfilled');
    expect(made).toHaveLength(1);
    const other = ended.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
    expect(String(other.reason)).toMatch(/exists already\. Wait a second, then try again/);
    const { folder, manifest } = (made[0] as PromiseFulfilledResult<BackupMade>).value;
    expect(await readdir(folder)).toEqual(['backup.json', manifest.files[0]!.name]);
    expect(await readdir(to)).toHaveLength(1);
  });

  // These run the commands in this process; the first test runs each as a process of its own.
  describe('of a folder', () => {
    let home: DataPlace;
    let backup: string;
    const backUpHere = async (from: DataPlace, ...options: string[]): Promise<string> => {
      const to = newFolder();
      return madeIn(to, await stage.commandHere(from, ['backup', '--to', to, ...options]));
    };
    const verifyHere = (folder: string, from: DataPlace) =>
      stage.commandHere(from, ['verify', folder]);
    const restoreHere = (folder: string, to: DataPlace) =>
      stage.commandHere(to, ['restore', '--from', folder]);
    beforeAll(async () => {
      home = stage.folderPlace();
      await stage.useHere(home);
      backup = await backUpHere(home);
    });

    it('leave the key out when asked, and are refused with another key', async () => {
      const key = await stage.keyOf(home);
      const apart = await backUpHere(home, '--without-key');
      expect(await readdir(apart)).not.toContain('encryption.key');
      expect((await verifyHere(apart, home)).out).toMatch(
        /It does not hold the encryption key: a restore needs the key with the fingerprint \w+/,
      );
      const next = stage.folderPlace();
      const withKey = (given: string) => ({
        ...next,
        env: { ...next.env, ENCRYPTION_KEY: given },
      });
      refused(await restoreHere(apart, next), /sealed with the key .*, and there is none in/);
      refused(await restoreHere(apart, withKey(otherKey())), /ENCRYPTION_KEY is another one/);
      succeeded(await restoreHere(apart, withKey(key)));
    });

    it('name no key while a change of it is interrupted, since it may be the old or the new one', async () => {
      const newKey = join(home.folder!, 'encryption.key.new');
      await writeFile(newKey, `${otherKey()}\n`);
      const apart = await backUpHere(home, '--without-key');
      await rm(newKey);
      expect((await verifyHere(apart, home)).out).toContain('a restore needs the key.\n');
    });

    it('come back from the middle of a change of the key, when the new key is not in its place yet', async () => {
      const changing = stage.folderPlace();
      await stage.useHere(changing);
      const former = await stage.keyOf(changing);
      succeeded(await stage.commandHere(changing, ['rotate-encryption-key']));
      const key = join(changing.folder!, 'encryption.key');
      await rename(key, `${key}.new`);
      await writeFile(key, `${former}\n`);
      const midway = await backUpHere(changing);
      succeeded(await verifyHere(midway, changing));
      const next = stage.folderPlace();
      succeeded(await restoreHere(midway, next));
      await stage.useHere(next);
      expect(await stage.keyOf(next)).not.toBe(former);
    });

    it('are refused when the key was changed while the data was copied', async () => {
      const changing = stage.folderPlace();
      await stage.useHere(changing);
      const [mark, key] = ['acknowledged.json', 'encryption.key'].map((name) =>
        join(changing.folder!, name),
      ) as [string, string];
      const [markText, keyText] = [await readFile(mark), await readFile(key)];
      // The copy begins with this file. As a pipe, it keeps the copy waiting.
      await rm(mark);
      execFileSync('mkfifo', [mark]);
      const to = newFolder();
      const ended = stage.command(changing, ['backup', '--to', to]);
      const pipe = await open(mark, 'w');
      await writeFile(key, `${otherKey()}\n`);
      await pipe.writeFile(markText);
      await pipe.close();
      refused(await ended, /The encryption key was changed .* Run the command again/);
      expect(await readdir(to)).toEqual([]);

      await rm(mark);
      await writeFile(mark, markText);
      await writeFile(key, keyText);
      await backUpHere(changing);
    });

    it('name the key that opens the copy, also when ENCRYPTION_KEY was changed while the command ran', async () => {
      const before = stage.folderPlace(otherKey());
      await stage.useHere(before);
      const [file, key] = [join(stage.folder, 'next.key'), otherKey()];
      await writeFile(file, key);
      succeeded(await stage.commandHere(before, ['rotate-encryption-key', '--new-key-file', file]));
      // The command still has the environment that it was started with.
      const backup = await backUpHere(before);
      const next = stage.folderPlace(key);
      succeeded(await restoreHere(backup, next));
      await stage.useHere(next);
    });

    it.each(['encryption.key', 'encryption.key.new'])(
      'replace no %s in the folder that differs from theirs',
      async (name) => {
        const added = join(home.folder!, 'encryption.key.new');
        await writeFile(added, `${otherKey()}\n`);
        const midway = await backUpHere(home);
        await rm(added);
        const next = stage.folderPlace();
        await mkdir(next.folder!);
        const [path, other] = [join(next.folder!, name), `${otherKey()}\n`];
        await writeFile(path, other);
        refused(await restoreHere(midway, next), /is not the key in the backup/);
        expect(await readFile(path, 'utf8')).toBe(other);
        await writeFile(path, await readFile(join(midway, name)));
        succeeded(await restoreHere(midway, next));
      },
    );

    it('are readable by their owner only', async () => {
      expect((await stat(backup)).mode & 0o077).toBe(0);
      for (const name of await readdir(backup))
        expect([name, (await stat(join(backup, name))).mode & 0o077]).toEqual([name, 0]);
      const manifest = JSON.parse(await readFile(join(backup, 'backup.json'), 'utf8')) as object;
      expect(manifest).toMatchObject({ format: 'conversation-service backup', store: 'folder' });
    });

    it('replace nothing: a folder in use or with data is refused, and so is a backup of nothing', async () => {
      refused(
        await stage.commandHere(stage.folderPlace(), ['backup', '--to', stage.folder]),
        /There is nothing to back up/,
      );
      refused(await restoreHere(backup, home), /is not empty/);
      // Holds the folder as a running service does.
      const holder = await openStoreOf(home.env);
      const whileInUse = await restoreHere(backup, home);
      await holder.close();
      refused(whileInUse, /is in use by process/);
    });

    it('notice what was changed, cut off or taken away since, and name it', async () => {
      const journal = join(backup, 'journal-1.log');
      const { size } = await stat(journal);
      await appendFile(journal, 'x');
      refused(await verifyHere(backup, home), /journal-1\.log has \d+ bytes in place of \d+/);
      await truncate(journal, size - 1);
      await appendFile(journal, 'x');
      refused(await verifyHere(backup, home), /journal-1\.log was changed or damaged/);
      refused(await restoreHere(backup, stage.folderPlace()), /is not a whole backup/);
      await rm(journal);
      refused(await verifyHere(backup, home), /journal-1\.log is missing/);
      for (const rest of ['', ',"version":1,"files":[null]']) {
        const manifest = `{"format":"conversation-service backup"${rest}}`;
        await writeFile(join(backup, 'backup.json'), manifest);
        refused(await verifyHere(backup, home), /backup\.json does not describe a backup/);
      }
      refused(await verifyHere(stage.folder, home), /backup\.json cannot be read/);
    });
  });
});
