import { randomBytes } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const KEY_BYTES = 32;

/** Reads 32 bytes written as base64 or hex. @throws Error that says what a key looks like */
export function parseEncryptionKey(text: string, name: string): Buffer {
  const trimmed = text.trim();
  const key = /^[0-9a-f]{64}$/i.test(trimmed) ? Buffer.from(trimmed, 'hex') : Buffer.from(trimmed, 'base64');
  if (key.length !== KEY_BYTES) {
    throw new Error(`${name} must be 32 random bytes in base64 or hex, such as \`openssl rand -base64 32\` prints.`);
  }
  return key;
}

/**
 * The key from the environment, else from `encryption.key` in the data folder; null when there is neither.
 * @throws Error when the file is there but cannot be read or is no key
 */
export async function findEncryptionKey(given: string | undefined, folder: string): Promise<Buffer | null> {
  if (given !== undefined) return parseEncryptionKey(given, 'ENCRYPTION_KEY');
  const path = keyPath(folder);
  try {
    return parseEncryptionKey(await readFile(path, 'utf8'), path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Makes a key and keeps it in the data folder, for its owner alone. */
export async function makeEncryptionKey(folder: string): Promise<Buffer> {
  const key = randomBytes(KEY_BYTES);
  const file = await open(keyPath(folder), 'wx', 0o600);
  try {
    await file.writeFile(`${key.toString('base64')}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  return key;
}

const keyPath = (folder: string) => join(folder, 'encryption.key');
