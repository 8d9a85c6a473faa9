import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { ServiceStore, Setting } from '../domain/collections.ts';
import {
  KEY_FILE,
  NEW_KEY_FILE,
  adoptNewKey,
  keepKey,
  makeEncryptionKey,
  parseEncryptionKey,
  readKeyFile,
} from '../security/encryptionKey.ts';
import { createSecretBox, type SecretBox } from '../security/secretBox.ts';
import { SEALING_VERSION, sealEarlierDocument } from './sealEarlierDocument.ts';

export const FINGERPRINT = 'encryption_key_fingerprint';

export type KeyPlace = Pick<Config, 'encryptionKey' | 'dataDir'>;

/**
 * The box that seals this store's secrets. A key is made only for a store that has never had one.
 * Ends what an interrupted rotation, or an earlier version, has left to do.
 * @throws Error that says what to do when the key is missing, damaged, or not the one the data was
 * written with
 */
export async function openSecretBox(store: ServiceStore, place: KeyPlace): Promise<SecretBox> {
  const known = await findFingerprint(store);
  if (known === null) return beginSealing(store, place);
  const box = await openKnownBox(known.value, place);
  await sealEarlier(store, known, box);
  await forgetFormer(store);
  return box;
}

export const findFingerprint = (store: ServiceStore): Promise<Setting | null> =>
  store.transaction((tx) => tx.settings.peek(FINGERPRINT));

async function beginSealing(
  store: ServiceStore,
  { encryptionKey, dataDir }: KeyPlace,
): Promise<SecretBox> {
  const found =
    encryptionKey === undefined
      ? await readKeyFile(join(dataDir, KEY_FILE))
      : parseEncryptionKey(encryptionKey, 'ENCRYPTION_KEY');
  const key = found ?? makeEncryptionKey();
  if (found === null) await keepKey(dataDir, key);
  const box = createSecretBox(key);
  const first = await store.transaction(async (tx) => {
    // locked: of several processes that start at once, one says which key it is
    const known = await tx.settings.get(FINGERPRINT);
    if (known === null)
      await tx.settings.put({
        id: FINGERPRINT,
        value: box.fingerprint,
        sealingVersion: SEALING_VERSION,
      });
    return known;
  });
  return first === null ? box : fitting(box, first.value);
}

/** @param fingerprint of the key that the data was written with */
async function openKnownBox(
  fingerprint: string,
  { encryptionKey, dataDir }: KeyPlace,
): Promise<SecretBox> {
  if (encryptionKey !== undefined)
    return fitting(
      createSecretBox(parseEncryptionKey(encryptionKey, 'ENCRYPTION_KEY')),
      fingerprint,
    );
  // half written: never used
  const next = await readKeyFile(join(dataDir, NEW_KEY_FILE)).catch(() => null);
  if (next !== null && createSecretBox(next).fingerprint === fingerprint) {
    // A rotation was interrupted after everything had been sealed with the new key.
    await adoptNewKey(dataDir);
    return createSecretBox(next);
  }
  const present = await readKeyFile(join(dataDir, KEY_FILE));
  if (present === null)
    throw new Error(
      `${KEY_FILE} is missing from ${dataDir}, and the data there was written with it. Put it back, or give the key as ENCRYPTION_KEY.`,
    );
  const box = fitting(createSecretBox(present), fingerprint);
  // of a rotation that was interrupted before
  await rm(join(dataDir, NEW_KEY_FILE), { force: true });
  return box;
}

function fitting(box: SecretBox, fingerprint: string): SecretBox {
  if (box.fingerprint === fingerprint) return box;
  throw new Error(
    'The encryption key is not the one that this data was written with. Give that key (ENCRYPTION_KEY, or encryption.key in the data folder; after a rotation the new one), or start with another DATA_DIR.',
  );
}

async function sealEarlier(store: ServiceStore, known: Setting, box: SecretBox): Promise<void> {
  if ((known.sealingVersion ?? 1) >= SEALING_VERSION) return;
  await store.rewrite((document, collection) =>
    isFingerprint(document, collection)
      ? ({ ...document, sealingVersion: SEALING_VERSION, hasHistory: true } as Setting)
      : sealEarlierDocument(document, collection, box),
  );
}

export const isFingerprint = ({ id }: { readonly id: string }, collection: string): boolean =>
  collection === 'settings' && id === FINGERPRINT;

/**
 * Removes from the disk what was there before everything was sealed anew, when that is still to be
 * done.
 */
export async function forgetFormer(store: ServiceStore): Promise<void> {
  if ((await findFingerprint(store))?.hasHistory !== true) return;
  await store.forgetHistory();
  await store.transaction(async (tx) => {
    const { hasHistory, ...setting } = (await tx.settings.get(FINGERPRINT))!;
    if (hasHistory) await tx.settings.put(setting);
  });
}
