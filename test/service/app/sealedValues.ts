import { readFile } from 'node:fs/promises';
import { openOrNull, type SecretBox } from '../../../service/src/platform/security/secretBox.ts';
import { eachFile } from '../../helpers/folderFiles.ts';

export const SEALED = /\bv1\.[A-Za-z0-9_-]{38,}/g;

/** Every text in a folder's store files that looks like a sealed value. */
export const sealedIn = async (folder: string): Promise<string[]> => {
  const sealed = await eachFile(folder, async (path, name) =>
    /^(journal|snapshot)-/.test(name) ? ((await readFile(path, 'utf8')).match(SEALED) ?? []) : [],
  );
  return sealed.flat();
};
/** Whether a value was sealed with this key. */
export const opens = (box: SecretBox, sealed: string): boolean => openOrNull(box, sealed) !== null;
