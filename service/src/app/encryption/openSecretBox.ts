import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { ServiceStore } from '../../store/collections.ts';
import type { Setting } from '../../platform/platformStore.ts';
import {
  KEY_FILE,
  NEW_KEY_FILE,
  adoptNewKey,
  replaceKey,
  makeEncryptionKey,
  parseEncryptionKey,
  readCurrentKey,
  readKeyFile,
} from '../../platform/security/encryptionKey.ts';
import { createSecretBox, type SecretBox } from '../../platform/security/secretBox.ts';

const FINGERPRINT = 'encryption_key_fingerprint';

/** Tells a later version of the service which fields are sealed and which it has to seal. */
const SEALING_VERSION = 3;

export type KeyPlace = Pick<Config, 'encryptionKey' | 'dataDir'>;

/**
 * Opens the box that seals this store's secrets. Makes a key only for a store that never had one.
 * Also finishes what an interrupted rotation left to do.
 * @throws Error that says what to do when the key is missing, damaged, or not the one the data was
 * written with
 */
export async function openSecretBox(store: ServiceStore, place: KeyPlace): Promise<SecretBox> {
  const known = await findFingerprint(store);
  if (known === null) return beginSealing(store, place);
  const box = await openKnownBox(known.value, place);
  await forgetHistoryIfDue(store);
  return box;
}

export const findFingerprint = (store: ServiceStore): Promise<Setting | null> =>
  store.transaction((tx) => tx.settings.peek(FINGERPRINT));

async function beginSealing(store: ServiceStore, place: KeyPlace): Promise<SecretBox> {
  const found = await readCurrentKey(place);
  const key = found ?? makeEncryptionKey();
  if (found === null) await replaceKey(place.dataDir, key);
  const box = createSecretBox(key);
  const first = await store.transaction(async (tx) => {
    // The get locks: when several processes start at once, the first one decides on the key.
    const known = await tx.settings.get(FINGERPRINT);
    if (known === null)
      await tx.settings.put({
        id: FINGERPRINT,
        value: box.fingerprint,
        sealingVersion: SEALING_VERSION,
      });
    return known;
  });
  return first === null ? box : assertFingerprint(box, first.value);
}

/** @param fingerprint of the key that the data was written with */
async function openKnownBox(
  fingerprint: string,
  { encryptionKey, dataDir }: KeyPlace,
): Promise<SecretBox> {
  if (encryptionKey !== undefined)
    return assertFingerprint(
      createSecretBox(parseEncryptionKey(encryptionKey, 'ENCRYPTION_KEY')),
      fingerprint,
    );
  // A new key that cannot be read was only half written, so nothing is sealed with it.
  const next = await readKeyFile(join(dataDir, NEW_KEY_FILE)).catch(() => null);
  if (next !== null && createSecretBox(next).fingerprint === fingerprint) {
    // A rotation was interrupted after everything had been sealed with the new key.
    await adoptNewKey(dataDir);
    return createSecretBox(next);
  }
  const current = await readKeyFile(join(dataDir, KEY_FILE));
  if (current === null)
    throw new Error(
      `${KEY_FILE} is missing from ${dataDir}, and the data there was written with it. Put it back, or give the key as ENCRYPTION_KEY.`,
    );
  const box = assertFingerprint(createSecretBox(current), fingerprint);
  // A new key that is still here: a rotation was interrupted before it sealed anything.
  await rm(join(dataDir, NEW_KEY_FILE), { force: true });
  return box;
}

/** @throws Error when the box has another key */
function assertFingerprint(box: SecretBox, fingerprint: string): SecretBox {
  if (box.fingerprint === fingerprint) return box;
  throw new Error(
    'The encryption key is not the one that this data was written with. Give that key (ENCRYPTION_KEY, or encryption.key in the data folder; after a rotation the new one), or start with another DATA_DIR or DATABASE_SCHEMA.',
  );
}

export const isFingerprint = ({ id }: { readonly id: string }, collection: string): boolean =>
  collection === 'settings' && id === FINGERPRINT;

/**
 * Removes earlier journals and snapshots from the disk after everything was sealed with a new key, if
 * that is still to be done.
 */
export async function forgetHistoryIfDue(store: ServiceStore): Promise<void> {
  if ((await findFingerprint(store))?.hasHistory !== true) return;
  await store.forgetHistory();
  await store.transaction(async (tx) => {
    const { hasHistory, ...setting } = (await tx.settings.get(FINGERPRINT))!;
    if (hasHistory) await tx.settings.put(setting);
  });
}
