// `npm run fixtures -- <version>`: what a release wrote, for the upgrade tests of all later ones.
//
// Run it on the tagged code. It starts the built service, uses it, and keeps a backup of its folder, an
// export, a backup of PostgreSQL, and what the API said. docs/releasing.md, "Upgrade tests"
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { VERSION } from '../../service/src/platform/version.ts';
import { ensurePostgres } from '../postgres/programs.ts';
import { startPostgres } from '../postgres/server.ts';
import { FIXTURE, readContent, writeContent } from './content.ts';
import { command, withService, type StoreEnv } from './run.ts';

const [version] = process.argv.slice(2);
if (version !== VERSION)
  fail(`This code is ${VERSION}. Check out the tag of the version you want.`);
const target = fileURLToPath(new URL(`fixtures/${version}`, import.meta.url));
if (existsSync(target)) fail(`${target} is there already. A fixture is never made again.`);
const missing = ensurePostgres();
if (missing !== null) fail(missing);

const folder = await mkdtemp(join(tmpdir(), 'conversation-fixtures-'));
const server = await startPostgres({ fsync: false });
try {
  const onFolder = { DATA_DIR: join(folder, 'data') };
  const onDatabase = { DATABASE_URL: server.url };
  await mkdir(target, { recursive: true });
  const content = await withService(
    folder,
    onFolder,
    async (url, api) => {
      await writeContent(url, api);
      return readContent(api);
    },
    {
      BOOTSTRAP_API_KEY: FIXTURE.apiKey,
      BOOTSTRAP_WORKSPACE: 'Shop',
      BOOTSTRAP_ADMIN_EMAIL: FIXTURE.email,
      BOOTSTRAP_ADMIN_PASSWORD: FIXTURE.password,
    },
  );
  await writeFile(join(target, 'content.json'), `${JSON.stringify(content, null, 2)}\n`);
  await command(folder, onFolder, 'export', '--to', join(target, 'export.ndjson'));
  await keepBackup(onFolder, 'folder');
  await command(folder, onDatabase, 'import', '--from', join(target, 'export.ndjson'));
  // A start makes the rest of the tables.
  await withService(folder, onDatabase, (_url, api) => readContent(api));
  await keepBackup(onDatabase, 'postgresql');
  console.log(`Kept in ${target}`);
} catch (error) {
  await rm(target, { recursive: true, force: true });
  throw error;
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function keepBackup(store: StoreEnv, name: string): Promise<void> {
  const to = join(target, 'backups');
  await command(folder, store, 'backup', '--to', to);
  const [made] = await readdir(to);
  await rename(join(to, made!), join(target, name));
  await rm(to, { recursive: true });
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
