import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { DUMP_FILE, readBackup, type BackupManifest } from '../moving/backup.ts';
import { countDump } from '../moving/postgresTools.ts';
import { KEY_FILE } from '../platform/security/encryptionKey.ts';
import { fillDataFolder } from '../store/lowdb/index.ts';
import { formatCounts, countStored, tallyLines } from './command.ts';
import { refuse } from './restoreCommand.ts';

/** `conversation-service verify`: whether a backup could be restored. Changes nothing. */
export function addVerifyCommand(program: Command): void {
  program
    .command('verify')
    .description('check a backup: its checksums, that it opens, and how many records it holds')
    .argument('<folder>', 'the folder that `backup` made')
    .action((folder: string) => verify(folder));
}

async function verify(folder: string): Promise<void> {
  const manifest = await readBackup(folder).catch((error: unknown) => refuse(folder, error));
  const { at, made_by: madeBy, store } = manifest;
  const lines =
    store === 'folder'
      ? await openCopy(folder, manifest)
      : `${formatCounts(await countDump(join(folder, DUMP_FILE)))}  A dump is not opened here: to see that it opens, restore it into an empty database.\n`;
  process.stdout.write(
    `${folder} is whole. conversation-service ${madeBy} made it at ${at}:\n${lines}${keyNote(manifest)}`,
  );
}

function keyNote({ files, key_fingerprint: fingerprint }: BackupManifest): string {
  if (files.some(({ name }) => name === KEY_FILE)) return '';
  const named = fingerprint === null ? '' : ` with the fingerprint ${fingerprint}`;
  return `  It does not hold the encryption key: a restore needs the key${named}.\n`;
}

/** Opens a copy in a temporary folder, since opening a store writes to its folder. */
async function openCopy(folder: string, { files }: BackupManifest): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'conversation-service-verify-'));
  try {
    await fillDataFolder(copy, new Map(files.map(({ name }) => [name, resolve(folder, name)])));
    const hasKey = files.some(({ name }) => name === KEY_FILE);
    const key = hasKey ? { dataDir: copy, encryptionKey: undefined } : null;
    return tallyLines(await countStored({ dataDir: copy, database: null }, key));
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}
