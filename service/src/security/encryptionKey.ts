import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile } from 'node:fs/promises';
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
 * The key from the environment, else from `encryption.key` in the data folder, made on the first start.
 * @throws Error when the file is there but cannot be read or is no key
 */
export async function loadEncryptionKey(given: string | undefined, folder: string): Promise<Buffer> {
  if (given !== undefined) return parseEncryptionKey(given, 'ENCRYPTION_KEY');
  const path = join(folder, 'encryption.key');
  try {
    return parseEncryptionKey(await readFile(path, 'utf8'), path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const key = randomBytes(KEY_BYTES);
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(`${key.toString('base64')}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  return key;
}
