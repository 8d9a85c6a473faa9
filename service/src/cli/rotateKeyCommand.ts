import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { readConfig } from '../app/config.ts';
import { nothingToRotate, rotateEncryptionKey } from '../app/encryption/rotateEncryptionKey.ts';
import {
  KEY_FILE,
  makeEncryptionKey,
  parseEncryptionKey,
} from '../platform/security/encryptionKey.ts';
import { describeLocation } from '../store/openStore.ts';
import { withStore } from './command.ts';

/** `conversation-service rotate-encryption-key`: runs while the service is stopped. */
export function addRotateKeyCommand(program: Command): void {
  program
    .command('rotate-encryption-key')
    .description(
      'seal all stored secrets with a new key, while the service is stopped (with DATABASE_URL: all its processes)',
    )
    .option(
      '--new-key-file <path>',
      'a file with the new key, 32 bytes in base64 or hex; by default the command makes a key',
    )
    .action(({ newKeyFile }: { newKeyFile?: string }) => rotate(newKeyFile));
}

async function rotate(newKeyFile: string | undefined): Promise<void> {
  const config = readConfig(process.env);
  if (config.encryptionKey !== undefined && newKeyFile === undefined) {
    throw new Error(
      'ENCRYPTION_KEY is set, so you make the new key yourself: run `openssl rand -base64 32 > new.key`, then this command with --new-key-file new.key.',
    );
  }
  const newKey =
    newKeyFile === undefined
      ? makeEncryptionKey()
      : parseEncryptionKey(await readNewKey(newKeyFile), newKeyFile);
  // Checked here, since opening the store would create it.
  if (config.database === null && !existsSync(config.dataDir)) throw nothingToRotate(config);
  const count = await withStore((store) => rotateEncryptionKey(store, config, newKey), {
    exclusive: true,
  });
  const rest =
    config.encryptionKey === undefined
      ? `The new key is in ${resolve(config.dataDir, KEY_FILE)}: back it up.`
      : `Set ENCRYPTION_KEY to the key in ${newKeyFile} before the next start.`;
  process.stdout.write(
    `Sealed ${count} ${count === 1 ? 'record' : 'records'} with the new key. The old key opens nothing in ${config.database === null ? 'the data folder' : describeLocation(config)} any more. ${rest}\n`,
  );
}

async function readNewKey(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(`--new-key-file ${path} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
