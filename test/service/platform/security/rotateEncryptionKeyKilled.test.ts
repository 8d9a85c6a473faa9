import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { collections } from '../../../../service/src/app/collections.ts';
import { openSecretBox } from '../../../../service/src/app/encryption/openSecretBox.ts';
import { parseEncryptionKey } from '../../../../service/src/platform/security/encryptionKey.ts';
import {
  createSecretBox,
  type SecretBox,
} from '../../../../service/src/platform/security/secretBox.ts';
import { openLowdbStore } from '../../../../service/src/store/lowdb/index.ts';
import { opens, sealedIn } from '../../app/sealedValues.ts';

const CHILD = fileURLToPath(new URL('./rotateEncryptionKey.child.ts', import.meta.url));
const NEW_KEY = randomBytes(32);
const NEW_TEXT = NEW_KEY.toString('base64');
/** A process for each step. */
const TIMEOUT_MS = 180_000;

describe('rotate-encryption-key, killed at any moment', () => {
  const SECRETS = 40;
  /** Copied for each kill: a folder with a snapshot, a journal and so few secrets that a run is quick. */
  let prepared: string;
  let oldKey: string;
  beforeAll(async () => {
    prepared = await mkdtemp(join(tmpdir(), 'conversation-service-'));
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
  const folders: string[] = [];
  afterEach(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
  });
  afterAll(() => rm(prepared, { recursive: true, force: true }));

  /** @returns whether the rotation finished before its nth step */
  const killAt = async (folder: string, nth: number, presentKey?: string): Promise<boolean> => {
    await cp(prepared, folder, { recursive: true });
    if (presentKey !== undefined) await rm(join(folder, 'encryption.key'));
    const child = spawn(
      process.execPath,
      [CHILD, folder, String(nth), NEW_TEXT, ...(presentKey === undefined ? [] : [presentKey])],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let out = '';
    child.stdout.on('data', (chunk) => (out += String(chunk)));
    await once(child, 'close');
    if (child.signalCode !== 'SIGKILL' && out !== 'done')
      throw new Error(`it ended by itself, with ${child.exitCode}`);
    return out === 'done';
  };
  const readAll = async (folder: string, encryptionKey?: string): Promise<SecretBox> => {
    const store = await openLowdbStore(collections, { folder });
    try {
      const box = await openSecretBox(store, { dataDir: folder, encryptionKey });
      for (let n = 0; n < SECRETS; n++)
        expect(
          box.open((await store.transaction((tx) => tx.idempotentAnswers.get(`${n}`)))!.sealedBody),
        ).toBe(`secret ${n}`);
      return box;
    } finally {
      await store.close();
    }
  };
  const oldBox = () => createSecretBox(parseEncryptionKey(oldKey, 'it'));
  const newBox = () => createSecretBox(NEW_KEY);

  /**
   * Kills at every step, or every few. @returns with which key each folder opened, in the order of
   * the steps
   */
  const sweep = async (
    check: (folder: string) => Promise<'old' | 'new'>,
    { every = 1, presentKey }: { every?: number; presentKey?: string } = {},
  ): Promise<('old' | 'new')[]> => {
    const opened: ('old' | 'new')[] = [];
    for (let first = 1, isOver = false; !isOver; first += 4 * every) {
      const round = await Promise.all(
        [0, 1, 2, 3].map(async (more) => {
          const folder = await mkdtemp(join(tmpdir(), 'conversation-service-'));
          folders.push(folder);
          const isDone = await killAt(folder, first + more * every, presentKey);
          return { isDone, with: await check(folder) };
        }),
      );
      opened.push(...round.map((each) => each.with));
      isOver = round.some(({ isDone }) => isDone);
    }
    return opened;
  };

  it(
    'leaves a folder that the next start opens with every secret, and nothing under the old key once the new one is in place',
    async () => {
      const opened = await sweep(async (folder) => {
        const { fingerprint } = await readAll(folder);
        const isNew = fingerprint === newBox().fingerprint;
        if (!isNew) expect(fingerprint).toBe(oldBox().fingerprint);
        // The start has ended what was left to do.
        const names = await readdir(folder);
        expect(names).not.toContain('encryption.key.new');
        expect((await readFile(join(folder, 'encryption.key'), 'utf8')).trim()).toBe(
          isNew ? NEW_TEXT : oldKey,
        );
        if (isNew)
          expect((await sealedIn(folder)).filter((sealed) => opens(oldBox(), sealed))).toEqual([]);
        return isNew ? 'new' : 'old';
      });
      expect(opened.length).toBeGreaterThan(20);
      expect(opened.filter((each) => each === 'old').length).toBeGreaterThan(3);
      expect(opened.filter((each) => each === 'new').length).toBeGreaterThan(5);
      expect(opened.lastIndexOf('old')).toBeLessThan(opened.indexOf('new'));
    },
    TIMEOUT_MS,
  );

  it(
    'with ENCRYPTION_KEY leaves either the former or the new key working',
    async () => {
      const opened = await sweep(
        async (folder) => {
          const outcomes = await Promise.allSettled([readAll(folder, oldKey)]);
          if (outcomes[0]!.status === 'fulfilled') return 'old';
          await readAll(folder, NEW_TEXT);
          return 'new';
        },
        { every: 3, presentKey: oldKey },
      );
      expect(new Set(opened)).toEqual(new Set(['old', 'new']));
    },
    TIMEOUT_MS,
  );
});
