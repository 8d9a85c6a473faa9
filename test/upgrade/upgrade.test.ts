// Data that each release wrote opens in the code of today: a folder, an export, a PostgreSQL dump.
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { sectionsOf } from '../../scripts/release/changelog.ts';
import type { ApiClient } from '../helpers/apiClient.ts';
import { signedInBrowser } from '../helpers/browserless.ts';
import { testDatabaseUrl } from '../helpers/storage.ts';
import { commandHere } from '../helpers/commandHere.ts';
import { CANNED_REPLY, FIXTURE, FIXTURE_ENV, readContent } from './content.ts';
import { withService, type StoreEnv } from './run.ts';

const FIXTURES = fileURLToPath(new URL('fixtures', import.meta.url));
const RELEASES = readdirSync(FIXTURES).sort();
const TIMEOUT_MS = 120_000;

describe.each(RELEASES)('data of %s', (release) => {
  const fixture = join(FIXTURES, release);
  const content = JSON.parse(readFileSync(join(fixture, 'content.json'), 'utf8')) as object;
  let folder: string;
  let stores = 0;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'conversation-upgrade-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const newFolder = (): StoreEnv => ({ DATA_DIR: join(folder, `data-${(stores += 1)}`) });

  /** @returns what the command says */
  const command = async (store: StoreEnv, ...args: string[]): Promise<string> => {
    const env = { DATABASE_URL: '', DATABASE_SCHEMA: '', ...FIXTURE_ENV, ...store };
    const { code, out, err } = await commandHere(args, env);
    if (code !== 0) throw new Error(`${args.join(' ')}: ${err}`);
    return out;
  };

  /** Reads everything, and does what needs the secrets that the release sealed. */
  const use = async (url: string, api: ApiClient): Promise<void> => {
    expect(await readContent(api)).toMatchObject(content);
    const [hook] = (await api.get('/api/hooks')).body.data;
    expect((await api.post(`/api/hooks/${hook.id}/test`)).status).toBeLessThan(300);
    expect((await api.post(`/api/hooks/${hook.id}/rotate-secret`)).body.secret).toMatch(/^whsec_/);
    const [conversation] = (await api.get('/api/conversations?status=human_active')).body.data;
    const sent = await api.post(`/api/conversations/${conversation.id}/messages`, {
      text: 'later',
    });
    expect(sent.status).toBe(201);
    const browser = await signedInBrowser(url, FIXTURE);
    expect((await browser.get('/conversations?q=A-1042')).text).toContain('Eva');
    const canned = await browser.get('/settings/canned-replies');
    expect(canned.text).toContain(CANNED_REPLY.name);
    expect(canned.text).toContain(CANNED_REPLY.text);
  };
  const startAndUse = (store: StoreEnv) => withService(folder, store, use);
  /** Moves the data from one store into another, by today's commands. */
  const move = async (from: StoreEnv, to: StoreEnv) => {
    const file = join(folder, `export-${(stores += 1)}.ndjson`);
    await command(from, 'export', '--to', file);
    await command(to, 'import', '--from', file);
    await withService(folder, to, async (_url, api) => {
      expect(await readContent(api)).toMatchObject(content);
    });
  };

  it(
    'a backup of a folder is whole, is restored, moves on, and works',
    async () => {
      const backup = join(fixture, 'folder');
      expect(await command(newFolder(), 'verify', backup)).toContain('is whole');
      const store = newFolder();
      await command(store, 'restore', '--from', backup);
      await move(store, newFolder());
      await startAndUse(store);
    },
    TIMEOUT_MS,
  );

  it(
    'an export is imported, and works',
    async () => {
      const store = newFolder();
      await command(store, 'import', '--from', join(fixture, 'export.ndjson'));
      await startAndUse(store);
    },
    TIMEOUT_MS,
  );

  // `npm run test:postgres` brings a server.
  (testDatabaseUrl() === null ? it.skip : it)(
    'a PostgreSQL dump is restored, moves on in both directions, and works',
    async () => {
      const databases: string[] = [];
      const admin = new pg.Client({ connectionString: testDatabaseUrl()! });
      await admin.connect();
      const newDatabase = async (): Promise<StoreEnv> => {
        const name = `upgrade_${randomBytes(6).toString('hex')}`;
        await admin.query(`CREATE DATABASE ${name}`);
        databases.push(name);
        const url = new URL(testDatabaseUrl()!);
        url.pathname = `/${name}`;
        return { DATABASE_URL: url.href };
      };
      try {
        const backup = join(fixture, 'postgresql');
        expect(await command(newFolder(), 'verify', backup)).toContain('is whole');
        const store = await newDatabase();
        await command(store, 'restore', '--from', backup);
        await move(store, newFolder());
        const imported = await newDatabase();
        await command(imported, 'import', '--from', join(fixture, 'export.ndjson'));
        await move(imported, await newDatabase());
        await startAndUse(imported);
        await startAndUse(store);
      } finally {
        for (const name of databases) await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
        await admin.end();
      }
    },
    TIMEOUT_MS,
  );
});

describe('the fixtures', () => {
  it('are there for the first release, and for each but the newest, whose fixtures are made after its tag', () => {
    const changelog = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
    const released = sectionsOf(changelog).filter(({ date }) => /^\d{4}-/.test(date ?? ''));
    const wanted = ['0.1.0', ...released.slice(1).map(({ name }) => name)];
    expect(RELEASES).toEqual(expect.arrayContaining(wanted));
  });
});
