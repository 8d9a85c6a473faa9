import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { readConfig, type Config } from '../app/config.ts';
import { BackupRefused, DUMP_FILE, readBackup, type BackupManifest } from '../moving/backup.ts';
import { restoreDatabase } from '../moving/postgresTools.ts';
import { KeyRequirement } from '../moving/keyRequirement.ts';
import { KEY_FILE, NEW_KEY_FILE, readKeyFile } from '../platform/security/encryptionKey.ts';
import { fillDataFolder } from '../store/lowdb/index.ts';
import { describeLocation } from '../store/openStore.ts';
import { countStored, tallyLines } from './command.ts';

/** `conversation-service restore`: a backup into an empty store, while no service runs on it. */
export function addRestoreCommand(program: Command): void {
  program
    .command('restore')
    .description('put a backup into an empty DATA_DIR or database, while no service runs on it')
    .requiredOption('--from <folder>', 'the folder that `backup` made')
    .action(({ from }: { from: string }) => restoreFrom(from));
}

async function restoreFrom(from: string): Promise<void> {
  const config = readConfig(process.env);
  const manifest = await readBackup(from).catch((error: unknown) => refuse(from, error));
  if (config.database === null) await toFolder(config, manifest, from);
  else await toDatabase(config, config.database, manifest, from);
  process.stdout.write(
    `Restored the backup of ${manifest.at} into ${describeLocation(config)}:\n${tallyLines(await countStored(config, config))}`,
  );
}

async function toFolder(config: Config, manifest: BackupManifest, from: string): Promise<void> {
  if (manifest.store !== 'folder')
    throw new Error(
      `${from} is a backup of PostgreSQL, and DATABASE_URL is not set. Set it to an empty database, with the ENCRYPTION_KEY of that service.`,
    );
  const names = manifest.files.map(({ name }) => name);
  const key = await KeyRequirement.of(config);
  // The key in the backup is put in place with the rest, but replaces no other key.
  if (key.fingerprint !== null || !names.includes(KEY_FILE)) key.check(manifest.key_fingerprint);
  for (const name of [KEY_FILE, NEW_KEY_FILE])
    if (names.includes(name))
      await assertReplacesNoKey(join(config.dataDir, name), join(from, name));
  await fillDataFolder(config.dataDir, new Map(names.map((name) => [name, resolve(from, name)])));
}

/** A key that is replaced is lost, and with it everything that is sealed with it elsewhere. */
async function assertReplacesNoKey(path: string, inBackup: string): Promise<void> {
  const present = await readKeyFile(path);
  if (present === null || (await readKeyFile(inBackup).catch(() => null))?.equals(present)) return;
  throw new Error(
    `${path} is not the key in the backup, and a restore replaces no key. Move that file away, and keep it if anything was sealed with it.`,
  );
}

async function toDatabase(
  config: Config,
  database: NonNullable<Config['database']>,
  manifest: BackupManifest,
  from: string,
): Promise<void> {
  if (manifest.store !== 'postgresql')
    throw new Error(
      `${from} is a backup of a data folder. Restore it into a folder (without DATABASE_URL), then move it with export and import.`,
    );
  if (manifest.schema !== database.schema)
    throw new Error(
      `The backup is of the schema ${manifest.schema}. Set DATABASE_SCHEMA=${manifest.schema}.`,
    );
  (await KeyRequirement.of(config)).check(manifest.key_fingerprint);
  await restoreDatabase(database, join(from, DUMP_FILE)).catch(async (error: Error) => {
    // Whether the database is empty is asked, since the error's text is in the server's language.
    const { hasSchema } = await import('../store/postgres/index.ts');
    const didRun = error.cause === undefined; // otherwise, pg_restore could not be started
    if (!didRun || !(await hasSchema(database).catch(() => false))) throw error;
    throw new Error(
      `The database is not empty (${error.message}). Restore into another one; or stop the service and drop the schema ${database.schema}, which deletes what is there.`,
      { cause: error },
    );
  });
}

/** Adds the name of the folder to the error. */
export function refuse(from: string, error: unknown): never {
  if (!(error instanceof BackupRefused)) throw error;
  throw new Error(`${from} is not a whole backup: ${error.message}`, { cause: error });
}
