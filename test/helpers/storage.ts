// Where a test's service keeps its data. One variable switches them all: with DATABASE_URL in the
// environment each has a fresh schema of that database, else the embedded store in its folder.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dropSchema, expireLeases, readSchema, TEST_SCHEMA } from '../postgres/schemas.ts';
import { failuresSoFar } from './failures.ts';
import { textOfFolder } from './folderFiles.ts';

/** The database that the tests run on; null: the embedded store. */
export const testDatabaseUrl = (): string | null => process.env.DATABASE_URL || null;

export interface Storage {
  readonly folder: string;
  /** The variables that name it to a service: DATA_DIR, and what goes with DATABASE_URL. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * All that is stored, as text: the bytes of every file of the folder, and every value of the
   * schema.
   */
  stored(): Promise<string>;
  /**
   * Call it after a process was killed and before the next one starts. On a database it ends the
   * leases of the dead process's jobs at once; the embedded store has none. The tests of take-over
   * wait for real leases: test/postgres/outage/takeOver, test/chaos/postgres.
   */
  leasesRunOut(): Promise<void>;
  /** Removes the folder and the schema. If a test failed, the schema stays and its name is printed. */
  remove(): Promise<void>;
}

/**
 * @param name the data folder's name in a new temporary folder; empty: the temporary folder itself
 */
export async function freshStorage(name = ''): Promise<Storage> {
  const folder = await mkdtemp(join(tmpdir(), 'conversation-service-'));
  const env = { DATA_DIR: join(folder, name), ...freshDatabase() };
  const failures = failuresSoFar();
  return {
    folder,
    env,
    async stored() {
      const { DATABASE_SCHEMA: schema } = env;
      return [
        await textOfFolder(folder),
        ...(schema === undefined ? [] : await readSchema(testDatabaseUrl()!, schema)),
      ].join('\n');
    },
    async leasesRunOut() {
      const { DATABASE_SCHEMA: schema } = env;
      if (schema !== undefined) await expireLeases(testDatabaseUrl()!, schema);
    },
    async remove() {
      await rm(folder, { recursive: true, force: true });
      const { DATABASE_SCHEMA: schema } = env;
      if (schema === undefined) return;
      if (failuresSoFar() > failures)
        process.stderr.write(`A test failed; what it stored is kept in the schema ${schema}.\n`);
      else await dropSchema(testDatabaseUrl()!, schema);
    },
  };
}

/**
 * Variables that put a service on a schema of its own, which it makes itself; none for the embedded
 * store.
 */
function freshDatabase(): Partial<
  Record<'DATABASE_URL' | 'DATABASE_SCHEMA' | 'DATABASE_CONNECTIONS' | 'ENCRYPTION_KEY', string>
> {
  const url = testDatabaseUrl();
  if (url === null) return {};
  return {
    DATABASE_URL: url,
    DATABASE_SCHEMA: `${TEST_SCHEMA}${randomBytes(8).toString('hex')}`,
    DATABASE_CONNECTIONS: '4',
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  };
}
