import { join } from 'node:path';
import type { Setting } from '../platform/platformStore.ts';
import { isFingerprint, type KeyPlace } from '../app/encryption/openSecretBox.ts';
import {
  KEY_FILE,
  NEW_KEY_FILE,
  readCurrentKey,
  readKeyFile,
} from '../platform/security/encryptionKey.ts';
import { createSecretBox } from '../platform/security/secretBox.ts';
import type { DumpedRecord } from '../store/store.ts';

/** Refuses an export or a backup whose secrets are sealed with a key that is not here. */
export class KeyRequirement {
  private readonly place: KeyPlace;
  /** The fingerprint of the key here; null when there is none. */
  readonly fingerprint: string | null;
  /** The fingerprint of a new key that an interrupted rotation left. The next start may use it. */
  private readonly next: string | null;

  private constructor(place: KeyPlace, fingerprint: string | null, next: string | null) {
    this.place = place;
    this.fingerprint = fingerprint;
    this.next = next;
  }

  /** @throws Error when the key cannot be read */
  static async of(place: KeyPlace): Promise<KeyRequirement> {
    const key = await readCurrentKey(place);
    const next =
      place.encryptionKey === undefined
        ? await readKeyFile(join(place.dataDir, NEW_KEY_FILE)).catch(() => null)
        : null;
    return new KeyRequirement(place, fingerprintOf(key), fingerprintOf(next));
  }

  /**
   * @param fingerprint null when nothing is sealed
   * @throws Error that says which key is missing and where to put it
   */
  check(fingerprint: string | null): void {
    if (fingerprint === null || [this.fingerprint, this.next].includes(fingerprint)) return;
    const { encryptionKey, dataDir } = this.place;
    const sealed = `The secrets are sealed with the key with fingerprint ${fingerprint}`;
    const where =
      'the key of the service that the data comes from: its ENCRYPTION_KEY, or the file encryption.key in its DATA_DIR';
    if (encryptionKey !== undefined)
      throw new Error(
        `${sealed}, and ENCRYPTION_KEY is another one (${this.fingerprint}). Set ENCRYPTION_KEY to ${where}.`,
      );
    const file = join(dataDir, KEY_FILE);
    const present =
      this.fingerprint === null
        ? `there is none in ${dataDir}`
        : `the one in ${file} is another (${this.fingerprint})`;
    throw new Error(
      `${sealed}, and ${present}. Put that key into ${file} (mode 0600), or set ENCRYPTION_KEY to it. It is ${where}.`,
    );
  }

  /** Passes records on. Throws at the record of the key's fingerprint if that key is not here. */
  async *checked(records: AsyncIterable<DumpedRecord>): AsyncGenerator<DumpedRecord> {
    for await (const record of records) {
      if (!('job' in record) && isFingerprint(record.document, record.collection))
        this.check((record.document as Setting).value);
      yield record;
    }
  }
}

const fingerprintOf = (key: Buffer | null): string | null =>
  key === null ? null : createSecretBox(key).fingerprint;
