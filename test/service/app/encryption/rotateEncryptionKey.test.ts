import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { collections } from '../../../../service/src/app/collections.ts';
import { openSecretBox } from '../../../../service/src/app/encryption/openSecretBox.ts';
import { rotateEncryptionKey } from '../../../../service/src/app/encryption/rotateEncryptionKey.ts';
import { parseEncryptionKey } from '../../../../service/src/platform/security/encryptionKey.ts';
import {
  createSecretBox,
  type SecretBox,
} from '../../../../service/src/platform/security/secretBox.ts';
import type { Tx } from '../../../../service/src/store/collections.ts';
import { openLowdbStore } from '../../../../service/src/store/lowdb/index.ts';
import type { Collection, Document } from '../../../../service/src/store/store.ts';
import { MEMBER_ENV } from '../../../helpers/browserless.ts';
import { useEverySecret } from '../../../helpers/everySecret.ts';
import { startEventReceiver, type EventReceiver } from '../../../helpers/eventReceiver.ts';
import { commandHere } from '../../../helpers/commandHere.ts';
import { BARE_ENV } from '../../../helpers/program.ts';
import { startTestService } from '../../../helpers/service.ts';
import {
  startToolEndpoint,
  TOOL_TEST_ENV,
  type ToolEndpoint,
} from '../../../helpers/toolEndpoint.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import { opens, SEALED, sealedIn } from '../sealedValues.ts';

const MAIN = fileURLToPath(new URL('../../../../service/dist/main.js', import.meta.url));
const NEW_KEY = randomBytes(32);
const NEW_TEXT = NEW_KEY.toString('base64');

const folders: string[] = [];
const newFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'conversation-service-'));
  folders.push(folder);
  return folder;
};
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

describe('rotate-encryption-key', () => {
  let receiver: EventReceiver;
  let endpoint: ToolEndpoint;
  /** A stopped service's folder in which every feature that seals something was used. */
  let used: string;
  let oldKey: Buffer;
  beforeAll(async () => {
    receiver = await startEventReceiver();
    endpoint = await startToolEndpoint();
    const nowhere = 'http://127.0.0.1:9';
    const service = await startTestService({
      ca: receiver.ca,
      store: { snapshotAfterBytes: 4000 },
      env: { ...MEMBER_ENV, ...TOOL_TEST_ENV, GRAPH_API_URL: nowhere, STRIPE_API_URL: nowhere },
    });
    await useEverySecret(service, receiver, endpoint);
    used = await newFolder();
    const filter = (path: string) => !path.endsWith('/lock');
    // Copied while the service is stopped, so that nothing changes during it.
    await service.changeStored(() => cp(service.folder, used, { recursive: true, filter }));
    await service.stop();
    oldKey = parseEncryptionKey(await readFile(join(used, 'encryption.key'), 'utf8'), 'it');
  });
  afterAll(async () => {
    await receiver?.close();
    await endpoint?.close();
  });

  const copy = async () => {
    const folder = await newFolder();
    await cp(used, folder, { recursive: true });
    return folder;
  };
  const run = (folder: string, args: readonly string[] = [], env: Record<string, string> = {}) =>
    new Promise<{ code: number; out: string; err: string }>((resolve) => {
      const command = [MAIN, 'rotate-encryption-key', ...args];
      execFile(
        process.execPath,
        command,
        { env: { ...BARE_ENV, DATA_DIR: folder, ...env } },
        (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
      );
    });
  /** As `run`, in this process. */
  const runHere = (
    folder: string,
    args: readonly string[] = [],
    env: Record<string, string> = {},
  ) => commandHere(['rotate-encryption-key', ...args], { DATA_DIR: folder, ...env });
  /** Rotates in this process. */
  const rotate = async (folder: string, newKey: Buffer, encryptionKey?: string) => {
    const store = await openLowdbStore(collections, { folder });
    try {
      return await rotateEncryptionKey(store, { dataDir: folder, encryptionKey }, newKey);
    } finally {
      await store.close();
    }
  };
  /** Opens the folder as a start does. @returns the box, and every sealed value in the folder */
  const openFolder = async (
    folder: string,
    encryptionKey?: string,
  ): Promise<{ box: SecretBox; sealed: string[] }> => {
    const store = await openLowdbStore(collections, { folder });
    try {
      const box = await openSecretBox(store, { dataDir: folder, encryptionKey });
      const sealed: string[] = [];
      await store.rewrite((document) => {
        sealed.push(...(JSON.stringify(document).match(SEALED) ?? []));
        return document;
      });
      return { box, sealed };
    } finally {
      await store.close();
    }
  };

  it('seals everything again, and leaves nothing in any file that the former key opens', async () => {
    const folder = await copy();
    const before = await sealedIn(folder);
    expect(before.length).toBeGreaterThan(8);
    const { code, out, err } = await run(folder);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(
      /^Sealed \d+ records with the new key\. The old key opens nothing in the data folder any more\. The new key is in .*encryption\.key: back it up\.\n$/,
    );

    const newKey = parseEncryptionKey(await readFile(join(folder, 'encryption.key'), 'utf8'), 'it');
    expect(newKey.equals(oldKey)).toBe(false);
    expect((await stat(join(folder, 'encryption.key'))).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).not.toContain('encryption.key.new');
    const [from, to] = [createSecretBox(oldKey), createSecretBox(newKey)];
    const after = await sealedIn(folder);
    expect(after.length).toBeGreaterThan(8);
    expect(after.filter((sealed) => opens(from, sealed))).toEqual([]);
    expect(after.filter((sealed) => !opens(to, sealed))).toEqual([]);
    // The same secrets as before.
    const secrets = (box: SecretBox, sealed: readonly string[]) =>
      [...new Set(sealed.map((each) => box.open(each)))].sort();
    const { sealed: earlier } = await openFolder(await copy());
    expect(secrets(to, (await openFolder(folder)).sealed)).toEqual(secrets(from, earlier));
  });

  it('reaches every collection there is, however deep in a document a value stands', async () => {
    const folder = await newFolder();
    const store = await openLowdbStore(collections, { folder });
    const currentBox = await openSecretBox(store, { dataDir: folder, encryptionKey: undefined });
    interface AnyDocument extends Document {
      text: string;
      forged: string;
      sealed: string;
      deep: { list: [number, null, { sealed: string }] };
    }
    type Name = keyof typeof collections;
    const anyOf = (tx: Tx, name: Name) => tx[name] as unknown as Collection<AnyDocument>;
    const names = Object.keys(collections).filter((name) => name !== 'settings') as Name[];
    const forged = `v1.${randomBytes(60).toString('base64url')}`;
    await store.transaction(async (tx) => {
      for (const name of names) {
        const document: AnyDocument = {
          id: `x_${name}`,
          text: 'v1.not sealed',
          forged,
          sealed: currentBox.seal(`flat ${name}`),
          deep: { list: [1, null, { sealed: currentBox.seal(`deep ${name}`) }] },
        };
        await anyOf(tx, name).put(document);
      }
    });
    expect(
      await rotateEncryptionKey(store, { dataDir: folder, encryptionKey: undefined }, NEW_KEY),
    ).toBe(names.length);
    const to = createSecretBox(NEW_KEY);
    await store.transaction(async (tx) => {
      for (const name of names) {
        const document = (await anyOf(tx, name).get(`x_${name}`))!;
        const { text, sealed, deep } = document;
        const [one, none, inner] = deep.list;
        expect([text, document.forged, one, none]).toEqual(['v1.not sealed', forged, 1, null]);
        expect(to.open(sealed)).toBe(`flat ${name}`);
        expect(to.open(inner.sealed)).toBe(`deep ${name}`);
      }
    });
    await store.close();
  });

  it('leaves a service that goes on as before: tools stay live, deliveries are signed, links open', async () => {
    const folder = await copy();
    await rotate(folder, NEW_KEY);
    const { box, sealed } = await openFolder(folder);
    expect(box.fingerprint).toBe(createSecretBox(NEW_KEY).fingerprint);
    expect(sealed.every((each) => opens(box, each))).toBe(true);

    const service = await startTestService({ ca: receiver.ca, env: TOOL_TEST_ENV });
    await service.stop();
    await cp(folder, service.folder, { recursive: true });
    await service.restart();
    try {
      const [tool] = (await service.api.get('/api/tools?name=check_stock')).body.data;
      expect(tool.status).toBe('live');
      // An edit that does not change how the tool is called leaves it live.
      expect(
        (await service.api.patch(`/api/tools/${tool.id}`, { description: 'Says what is there.' }))
          .body.status,
      ).toBe('live');
      expect((await service.api.post(`/api/tools/${tool.id}/test`, {})).body.status).toBe(
        'succeeded',
      );
      const [link] = (await service.api.get('/api/payment-links')).body.data;
      expect((await fetch(service.url + new URL(link.url).pathname)).status).toBe(200);
      const [hook] = (await service.api.get('/api/hooks')).body.data;
      const count = receiver.requests.length;
      await service.api.post(`/api/hooks/${hook.id}/test`);
      await waitFor('the test event', () => receiver.requests.length > count);
      expect(receiver.faults).toEqual([]);
    } finally {
      await service.stop();
    }
  });

  const keyFile = async (text = `${NEW_TEXT}\n`) => {
    const path = join(await newFolder(), 'new.key');
    await writeFile(path, text);
    return path;
  };

  it('with ENCRYPTION_KEY takes the new key from a file, writes no key into the folder, and says what to set', async () => {
    const folder = await copy();
    await rm(join(folder, 'encryption.key'));
    const env = { ENCRYPTION_KEY: oldKey.toString('hex') };
    const without = await runHere(folder, [], env);
    expect([without.code, without.out]).toEqual([1, '']);
    expect(without.err).toMatch(
      /^conversation-service: ENCRYPTION_KEY is set, so you make the new key yourself: run `openssl rand -base64 32 > new\.key`.*\n$/,
    );
    const path = await keyFile();
    const { code, out, err } = await runHere(folder, ['--new-key-file', path], env);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain(`Set ENCRYPTION_KEY to the key in ${path} before the next start.`);
    expect((await readdir(folder)).filter((name) => name.startsWith('encryption'))).toEqual([]);
    await expect(openFolder(folder, oldKey.toString('hex'))).rejects.toThrow(
      'is not the one that this data was written with',
    );
    expect((await openFolder(folder, NEW_TEXT)).sealed.length).toBeGreaterThan(8);
  });

  it('refuses keys, files and folders that it cannot use, and changes nothing', async () => {
    const folder = await copy();
    await expect(rotate(folder, oldKey)).rejects.toThrow(
      'The new key is the current one. Make another',
    );
    await expect(rotate(folder, NEW_KEY, randomBytes(32).toString('base64'))).rejects.toThrow(
      'is not the one that this data was written with',
    );
    await expect(rotate(await newFolder(), NEW_KEY)).rejects.toThrow(
      /There is nothing in .* to seal with a new key/,
    );
    // Holds the folder as a running service does.
    const holder = await openLowdbStore(collections, { folder });
    const whileInUse = await runHere(folder);
    await holder.close();
    expect([whileInUse.code, whileInUse.err]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(`^conversation-service: .* is in use by process ${process.pid}\\..*\\n$`),
      ),
    ]);
    const noKey = ['--new-key-file', await keyFile('secret')];
    const noFile = ['--new-key-file', join(folder, 'none')];
    for (const [dataDir, args, message] of [
      [folder, noKey, /new\.key must be 32 random bytes in base64 or hex/],
      [folder, noFile, /--new-key-file .*none cannot be read: ENOENT/],
      [join(folder, 'typo'), [], /There is nothing in .*typo to seal with a new key/],
    ] as const) {
      const { code, out, err } = await runHere(dataDir, args);
      expect([code, out, err]).toEqual([1, '', expect.stringMatching(message)]);
      expect(err.trim().split('\n')).toHaveLength(1);
    }
    expect(await readdir(folder)).not.toContain('typo');
    expect((await openFolder(folder)).box.fingerprint).toBe(createSecretBox(oldKey).fingerprint);
  });
});
