import { createHash, randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { cp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { collections } from '../../../../service/src/app/collections.ts';
import { openSecretBox } from '../../../../service/src/app/encryption/openSecretBox.ts';
import { rotateEncryptionKey } from '../../../../service/src/app/encryption/rotateEncryptionKey.ts';
import { parseEncryptionKey } from '../../../../service/src/platform/security/encryptionKey.ts';
import { createSecretBox } from '../../../../service/src/platform/security/secretBox.ts';
import { openLowdbStore } from '../../../../service/src/store/lowdb/index.ts';
import { filesInSteps } from '../../../helpers/filesInSteps.ts';
import { opens, sealedIn } from '../sealedValues.ts';

const NEW_KEY = randomBytes(32);
const NEW_TEXT = NEW_KEY.toString('base64');
const SECRETS = 40;

const folders: string[] = [];
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'conversation-service-'));
  folders.push(folder);
  return folder;
};
/** A digest of the names and bytes of a folder's files. */
const digestOf = (folder: string): string => {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder).sort())
    hash.update(`${name}\n`).update(readFileSync(join(folder, name)));
  return hash.digest('hex');
};
const isNoLock = (path: string) => !path.endsWith('/lock');

describe('rotate-encryption-key, killed at any moment', () => {
  /** A folder with a snapshot, a journal and so few secrets that a rotation is quick. */
  let prepared: string;
  let oldKey: string;
  beforeAll(async () => {
    prepared = newFolder();
    const store = await openLowdbStore(collections, { folder: prepared });
    const box = await openSecretBox(store, { dataDir: prepared, encryptionKey: undefined });
    for (let n = 0; n < SECRETS; n++) {
      await store.transaction((tx) =>
        tx.idempotentAnswers.put({
          id: `${n}`,
          kind: 'idempotent_answer',
          requestHash: '',
          status: 200,
          sealedBody: box.seal(`secret ${n}`),
          expiresAt: '',
        }),
      );
      if (n === SECRETS / 2) await store.forgetHistory(); // a snapshot and a journal behind it
    }
    await store.close();
    oldKey = (await readFile(join(prepared, 'encryption.key'), 'utf8')).trim();
  });
  afterAll(async () => {
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });

  /**
   * Rotates the key of a copy. A process that is killed leaves the folder as it is at that moment.
   * @returns a copy of the folder in each state that the rotation takes it through, in order
   */
  const rotateInSteps = async (encryptionKey?: string): Promise<string[]> => {
    const folder = newFolder();
    await cp(prepared, folder, { recursive: true, filter: isNoLock });
    if (encryptionKey !== undefined) await rm(join(folder, 'encryption.key'));
    const states: string[] = [];
    let last = '';
    let isRotating = false;
    const keepState = () => {
      if (!isRotating) return;
      const state = newFolder();
      cpSync(folder, state, { recursive: true, filter: isNoLock });
      const content = digestOf(state);
      if (content !== last) states.push(state);
      last = content;
    };
    const files = filesInSteps(keepState);
    const store = await openLowdbStore(collections, { folder, files });
    isRotating = true;
    await rotateEncryptionKey(store, { dataDir: folder, encryptionKey }, NEW_KEY, files);
    keepState();
    await store.close();
    return states;
  };
  /** Opens a folder as a start does, and reads every secret. @returns the key that it opened with */
  const readAll = async (folder: string, encryptionKey?: string): Promise<'old' | 'new'> => {
    const store = await openLowdbStore(collections, { folder });
    try {
      const box = await openSecretBox(store, { dataDir: folder, encryptionKey });
      for (let n = 0; n < SECRETS; n++)
        expect(
          box.open((await store.transaction((tx) => tx.idempotentAnswers.get(`${n}`)))!.sealedBody),
        ).toBe(`secret ${n}`);
      return box.fingerprint === createSecretBox(NEW_KEY).fingerprint ? 'new' : 'old';
    } finally {
      await store.close();
    }
  };

  it('leaves a folder that the next start opens with every secret, and nothing under the old key once the new one is in place', async () => {
    const oldBox = createSecretBox(parseEncryptionKey(oldKey, 'it'));
    const check = async (folder: string) => {
      const key = await readAll(folder);
      // The start has finished what the rotation left to do.
      expect(await readdir(folder)).not.toContain('encryption.key.new');
      expect((await readFile(join(folder, 'encryption.key'), 'utf8')).trim()).toBe(
        key === 'new' ? NEW_TEXT : oldKey,
      );
      if (key === 'new')
        expect((await sealedIn(folder)).filter((sealed) => opens(oldBox, sealed))).toEqual([]);
      return key;
    };
    // All at once: each start makes a snapshot, in a thread that has to wait on a busy machine.
    const opened = await Promise.all((await rotateInSteps()).map(check));
    expect(opened.length).toBeGreaterThan(20);
    expect(opened.filter((each) => each === 'old').length).toBeGreaterThan(3);
    expect(opened.filter((each) => each === 'new').length).toBeGreaterThan(5);
    expect(opened.lastIndexOf('old')).toBeLessThan(opened.indexOf('new'));
  });

  it('with ENCRYPTION_KEY leaves either the old or the new key working', async () => {
    const everyThird = (await rotateInSteps(oldKey)).filter((_folder, n) => n % 3 === 0);
    const opened = await Promise.all(
      everyThird.map((folder) =>
        readAll(folder, oldKey).catch((error: Error) => {
          expect(error.message).toContain('is not the one that this data was written with');
          return readAll(folder, NEW_TEXT);
        }),
      ),
    );
    expect(new Set(opened)).toEqual(new Set(['old', 'new']));
  });
});
