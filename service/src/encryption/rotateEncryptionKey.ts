import type { Config } from '../config.ts';
import type { ServiceStore, Setting } from '../domain/collections.ts';
import { adoptNewKey, writeNewKey } from '../security/encryptionKey.ts';
import { createSecretBox } from '../security/secretBox.ts';
import { nodeFiles, type Files } from '../store/lowdb/files.ts';
import {
  findFingerprint,
  forgetFormer,
  isFingerprint,
  openSecretBox,
  type KeyPlace,
} from './openSecretBox.ts';
import { reseal } from './reseal.ts';

/** `database` may be left out for a folder. */
type RotatedPlace = Pick<KeyPlace, 'dataDir'> & Partial<Pick<Config, 'database'>>;

export const nothingToRotate = ({ dataDir, database = null }: RotatedPlace): Error =>
  new Error(
    database === null
      ? `There is nothing in ${dataDir} to seal anew: the service has not been started with this DATA_DIR.`
      : `There is nothing in the schema ${database.schema} to seal anew: the service has not been started with this DATABASE_URL and DATABASE_SCHEMA.`,
  );

/**
 * Seals everything with another key and leaves nothing on the disk that the present one opens. The
 * service must be stopped: the store is this process's alone (PostgreSQL: opened as `exclusive`).
 *
 * Whenever it is interrupted, one of the two keys opens everything. The new key is on the disk
 * first (beside the present one; with ENCRYPTION_KEY, wherever its owner keeps it), then all values
 * and the key's fingerprint change in one transaction, then the new key takes the place of the
 * present one, then old journals and snapshots go. The next start ends what is left of that.
 * @returns how many documents were sealed anew
 * @throws Error when there is nothing to rotate, or the present key is not the right one
 * @see decision 0025
 */
export async function rotateEncryptionKey(
  store: ServiceStore,
  place: KeyPlace & RotatedPlace,
  newKey: Buffer,
  files: Files = nodeFiles,
): Promise<number> {
  if ((await findFingerprint(store)) === null) throw nothingToRotate(place);
  const from = await openSecretBox(store, place);
  const to = createSecretBox(newKey);
  if (to.fingerprint === from.fingerprint)
    throw new Error('The new key is the present one. Make another: `openssl rand -base64 32`.');
  const keepsKey = place.encryptionKey === undefined;

  if (keepsKey) await writeNewKey(place.dataDir, newKey, files);
  let count = 0;
  await store.rewrite((document, collection) => {
    if (isFingerprint(document, collection))
      return { ...document, value: to.fingerprint, hasHistory: true } as Setting;
    const sealed = reseal(document, from, to);
    if (sealed !== document) count += 1;
    return sealed;
  });
  if (keepsKey) await adoptNewKey(place.dataDir, files);
  await forgetFormer(store);
  return count;
}
