import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SecretBox } from '../../service/src/security/secretBox.ts';

export const SEALED = /\bv1\.[A-Za-z0-9_-]{38,}/g;

/** Every text in a folder's store files that looks like a sealed value. */
export const sealedIn = async (folder: string): Promise<string[]> => {
  const names = (await readdir(folder)).filter((name) => /^(journal|snapshot)-/.test(name));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return texts.flatMap((text) => text.match(SEALED) ?? []);
};
/** Whether a value was sealed with this key. */
export const opens = (box: SecretBox, sealed: string): boolean => {
  try {
    return box.open(sealed) !== undefined;
  } catch {
    return false;
  }
};
