import type { Config } from '../config.ts';
import type { ServiceStore } from '../../store/collections.ts';
import type { Setting } from '../../platform/platformStore.ts';
import { adoptNewKey, writeNewKey } from '../../platform/security/encryptionKey.ts';
import { createSecretBox } from '../../platform/security/secretBox.ts';
import { nodeFiles, type Files } from '../../platform/files.ts';
import {
  findFingerprint,
  forgetHistoryIfDue,
  isFingerprint,
  openSecretBox,
  type KeyPlace,
} from './openSecretBox.ts';
import { reseal } from './reseal.ts';

/** Where a rotation seals everything again: the database or, without one, the data folder. */
type RotatedPlace = Pick<KeyPlace, 'dataDir'> & Partial<Pick<Config, 'database'>>;

export const nothingToRotate = ({ dataDir, database = null }: RotatedPlace): Error =>
  new Error(
    database === null
      ? `There is nothing in ${dataDir} to seal with a new key: the service was never started with this DATA_DIR.`
      : `There is nothing in the schema ${database.schema} to seal with a new key: the service was never started with this DATABASE_URL and DATABASE_SCHEMA.`,
  );

/**
 * Seals everything with a new key. Afterwards, the old key opens nothing that is on the disk. The
 * service must be stopped, since no other process may use the store (PostgreSQL: opened as
 * `exclusive`).
 *
 * Whenever the rotation is interrupted, one of the two keys opens everything:
 * 1. The new key is written beside the current one. With ENCRYPTION_KEY, the operator keeps it.
 * 2. All values and the key's fingerprint change in one transaction.
 * 3. The new key replaces the current one.
 * 4. Old journals and snapshots are removed.
 *
 * The next start finishes what is left to do.
 * @returns how many documents were sealed with the new key
 * @throws Error when there is nothing to rotate, the current key is not the right one, or the new key
 * is the current one
 * @see docs/decisions/0025-changing-the-encryption-key.md
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
    throw new Error('The new key is the current one. Make another: `openssl rand -base64 32`.');
  const isKeyInFolder = place.encryptionKey === undefined;

  if (isKeyInFolder) await writeNewKey(place.dataDir, newKey, files);
  let count = 0;
  await store.rewrite((document, collection) => {
    if (isFingerprint(document, collection))
      return { ...document, value: to.fingerprint, hasHistory: true } as Setting;
    const sealed = reseal(document, from, to);
    if (sealed !== document) count += 1;
    return sealed;
  });
  if (isKeyInFolder) await adoptNewKey(place.dataDir, files);
  await forgetHistoryIfDue(store);
  return count;
}
