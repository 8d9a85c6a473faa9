import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import { readConfig, type Config } from '../app/config.ts';
import { findFingerprint, isFingerprint } from '../app/encryption/openSecretBox.ts';
import { DUMP_FILE, makeBackup, type BackupParts } from '../moving/backup.ts';
import { dumpDatabase } from '../moving/postgresTools.ts';
import { systemClock } from '../platform/clock.ts';
import type { Setting } from '../platform/platformStore.ts';
import { KEY_FILE, NEW_KEY_FILE, readCurrentKey } from '../platform/security/encryptionKey.ts';
import { copyDataFolder } from '../store/lowdb/index.ts';
import { describeLocation } from '../store/openStore.ts';
import { withStore } from './command.ts';

/** `conversation-service backup`: a consistent copy of everything, while the service runs. */
export function addBackupCommand(program: Command): void {
  program
    .command('backup')
    .description('copy everything that is stored, also while the service runs')
    .requiredOption(
      '--to <folder>',
      'a folder; the backup is a new folder in it, named by the time',
    )
    .option('--without-key', 'leave encryption.key out, to keep it apart from the backup', false)
    .action(({ to, withoutKey }: { to: string; withoutKey: boolean }) => backupTo(to, !withoutKey));
}

async function backupTo(to: string, withKey: boolean): Promise<void> {
  const config = readConfig(process.env);
  const { folder, manifest } = await makeBackup(to, systemClock.now(), (target) =>
    config.database === null ? copyFolder(config, target, withKey) : dump(config.database, target),
  );
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  const hasKey = manifest.files.some(({ name }) => name === KEY_FILE);
  process.stdout.write(
    `Backed up ${describeLocation(config)} to ${folder}: ${manifest.files.length} files, ${bytes} bytes.\n${hasKey ? WITH_KEY : WITHOUT_KEY}`,
  );
}

const WITH_KEY =
  'It holds encryption.key, which opens its secrets: protect the backup like a password.\n';
const WITHOUT_KEY =
  'To restore it, you need the encryption key too, which is not in it. Keep that key like a password.\n';

async function copyFolder(config: Config, target: string, withKey: boolean): Promise<BackupParts> {
  const { dataDir } = config;
  const nothingStored = new Error(
    `There is nothing to back up: ${describeLocation(config)} is empty. Check that DATA_DIR is the one that the service uses.`,
  );
  if (!existsSync(dataDir)) throw nothingStored;
  // Refuses a key that cannot be read. With two files, the next start decides which one counts.
  if (!existsSync(join(dataDir, NEW_KEY_FILE))) await readCurrentKey(config);
  const keys = await readKeyFiles(config);
  const warn = (words: string) => process.stderr.write(`${words}\n`);
  let fingerprint = null as string | null;
  const names = await copyDataFolder(dataDir, target, warn, (collection, id, read) => {
    if (isFingerprint({ id }, collection)) fingerprint = (read() as Setting | null)?.value ?? null;
  });
  if (names.length === 0) throw nothingStored;
  if (!isDeepStrictEqual(await readKeyFiles(config), keys)) throw keyChanged();
  if (withKey)
    for (const [name, key] of keys)
      await writeFile(join(target, name), key, { mode: 0o600, flush: true });
  return {
    store: 'folder',
    schema: null,
    // While a change of the key is interrupted, the next start finds out which key it is.
    key_fingerprint: keys.has(NEW_KEY_FILE) ? null : fingerprint,
    names: [...names, ...(withKey ? keys.keys() : [])],
  };
}

/**
 * Reads the key files; none are used when ENCRYPTION_KEY is set. With two files, a change of the key
 * was interrupted, and the next start decides which of them counts.
 * @returns what is in each file, by its name
 */
async function readKeyFiles({
  dataDir,
  encryptionKey,
}: Config): Promise<ReadonlyMap<string, Buffer>> {
  const names = [KEY_FILE, NEW_KEY_FILE].filter(
    (name) => encryptionKey === undefined && existsSync(join(dataDir, name)),
  );
  const files = names.map(async (name) => [name, await readFile(join(dataDir, name))] as const);
  return new Map(await Promise.all(files));
}

const keyChanged = () =>
  new Error(
    'The encryption key was changed while the data was copied, and the copy may still need the former one. No backup was made. Run the command again.',
  );

async function dump(
  database: NonNullable<Config['database']>,
  target: string,
): Promise<BackupParts> {
  const fingerprintNow = async () => (await withStore((store) => findFingerprint(store)))?.value;
  const fingerprint = await fingerprintNow();
  await dumpDatabase(database, join(target, DUMP_FILE));
  if ((await fingerprintNow()) !== fingerprint) throw keyChanged();
  return {
    store: 'postgresql',
    schema: database.schema,
    key_fingerprint: fingerprint ?? null,
    names: [DUMP_FILE],
  };
}
