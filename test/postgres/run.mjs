// `npm run test:postgres`: the service's suites on a real PostgreSQL server, started for the run.
// Arguments go to jest: paths of test files, `-t <name>`, … A path in test/n8n, test/browser,
// test/chaos or test/abuse runs that suite instead. DATABASE_URL names another server to use.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensurePostgres, findPostgres } from './programs.ts';
import { keptSchemas } from './schemas.ts';
import { startPostgres } from './server.ts';

const pathOf = (relative) => fileURLToPath(new URL(relative, import.meta.url));

/** These suites never crash the machine; those that kill PostgreSQL start a server of their own. */
const FSYNC = false;

const own = process.env.DATABASE_URL ? null : await startOwn();
// Ctrl-C goes to jest too; we end after it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

const url = process.env.DATABASE_URL || own.url;
await keptSchemas(url).catch((error) => fail(`DATABASE_URL cannot be used: ${error.message}`));
process.exitCode = await runJest();
const kept = await keptSchemas(url);
if (kept.length > 0) {
  if (own) dump(kept);
  else console.log(`Kept from tests that failed, in this run or before: ${kept.join(', ')}`);
}
await own?.stop();

async function startOwn() {
  const missing = ensurePostgres();
  if (missing !== null) fail(missing);
  const server = await startPostgres({ fsync: FSYNC }).catch((error) => fail(error.message));
  console.log(
    `PostgreSQL ${spawnSync(join(findPostgres(), 'postgres'), ['--version'], { encoding: 'utf8' })
      .stdout.trim()
      .replace(/^.*\) /, '')} on port ${server.port}, for this run`,
  );
  return server;
}

async function runJest() {
  const args = ['-c', pathOf(configOf(process.argv.slice(2))), ...process.argv.slice(2)];
  const jest = spawn(process.execPath, [pathOf('../../node_modules/jest/bin/jest.js'), ...args], {
    stdio: 'inherit',
    env: { ...process.env, DATABASE_URL: url },
  });
  const [code] = await once(jest, 'exit');
  return code ?? 1;
}

/** The suites in these folders have settings of their own. */
function configOf(args) {
  const other = args
    .map((arg) => /^(?:\.\/)?test\/(n8n|browser|chaos|abuse)(\/|$)/.exec(arg)?.[1])
    .find(Boolean);
  return other === undefined ? 'jest.config.mjs' : `../${other}/jest.config.mjs`;
}

/** What failing tests stored outlives the server as files. */
function dump(schemas) {
  const folder = mkdtempSync(join(tmpdir(), 'kept-schemas-'));
  for (const schema of schemas) {
    const { status, stderr } = spawnSync(
      join(findPostgres(), 'pg_dump'),
      ['--schema', schema, '--file', join(folder, `${schema}.sql`), url],
      { encoding: 'utf8' },
    );
    if (status !== 0) console.error(stderr.trim());
  }
  console.log(`Kept from tests that failed: ${schemas.length} schemas, as files in ${folder}`);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
