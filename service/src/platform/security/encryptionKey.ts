import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nodeFiles, withFile, type Files } from '../files.ts';

const KEY_BYTES = 32;
const HEX = /^[0-9a-f]{64}$/i;
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/;

export const KEY_FILE = 'encryption.key';
/** Holds a new key until everything is sealed with it. */
export const NEW_KEY_FILE = 'encryption.key.new';

export const makeEncryptionKey = (): Buffer => randomBytes(KEY_BYTES);

/**
 * Reads 32 bytes written as base64 or hex.
 * @param name where the text is from; the error's message begins with this name
 * @throws Error that says what a key looks like
 */
export function parseEncryptionKey(text: string, name: string): Buffer {
  const trimmed = text.trim();
  const key = HEX.test(trimmed)
    ? Buffer.from(trimmed, 'hex')
    : BASE64.test(trimmed)
      ? Buffer.from(trimmed, 'base64')
      : null;
  if (key?.length === KEY_BYTES) return key;
  throw new Error(
    `${name} must be 32 random bytes in base64 or hex, such as \`openssl rand -base64 32\` prints.`,
  );
}

/**
 * @returns null when there is no such file
 * @throws Error that says what to do when the file cannot be read or holds no valid key
 */
export async function readKeyFile(path: string): Promise<Buffer | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new Error(
      `${path} cannot be read (${code ?? message}): let the user that runs the service read it, or set the key as ENCRYPTION_KEY.`,
      { cause: error },
    );
  }
  try {
    return parseEncryptionKey(text, path);
  } catch (error) {
    throw new Error(
      `${path} is damaged: it must hold 32 bytes in base64 or hex. Restore a copy, or set the key as ENCRYPTION_KEY.`,
      { cause: error },
    );
  }
}

/**
 * Reads the key from ENCRYPTION_KEY or, when that is not set, from the data folder.
 * @returns null when there is none
 * @throws Error that says what to do when it cannot be read
 */
export const readCurrentKey = async ({
  encryptionKey,
  dataDir,
}: {
  readonly encryptionKey: string | undefined;
  readonly dataDir: string;
}): Promise<Buffer | null> =>
  encryptionKey === undefined
    ? readKeyFile(join(dataDir, KEY_FILE))
    : parseEncryptionKey(encryptionKey, 'ENCRYPTION_KEY');

/**
 * Writes the key to the data folder, in place of the current one. Only its owner can read the file.
 * A crash leaves the old key or the new one, never a part of one.
 */
export async function replaceKey(
  folder: string,
  key: Buffer,
  files: Files = nodeFiles,
): Promise<void> {
  await writeNewKey(folder, key, files);
  await adoptNewKey(folder, files);
}

/** Writes a new key beside the current one. */
export async function writeNewKey(
  folder: string,
  key: Buffer,
  files: Files = nodeFiles,
): Promise<void> {
  await withFile(files, join(folder, NEW_KEY_FILE), 'w', async (file) => {
    await file.write(Buffer.from(`${key.toString('base64')}\n`), 0);
    await file.sync();
  });
  await files.syncFolder(folder);
}

/** Replaces the current key with the new one. */
export async function adoptNewKey(folder: string, files: Files = nodeFiles): Promise<void> {
  await files.rename(join(folder, NEW_KEY_FILE), join(folder, KEY_FILE));
  await files.syncFolder(folder);
}
