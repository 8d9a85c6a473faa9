import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parseEncryptionKey } from '../../service/src/platform/security/encryptionKey.ts';
import { createSecretBox } from '../../service/src/platform/security/secretBox.ts';
import { startEventReceiver, type EventReceiver } from '../helpers/eventReceiver.ts';
import { runCommand } from '../helpers/program.ts';
import { startServiceProcess } from '../helpers/serviceProcess.ts';
import { freshStorage, type Storage } from '../helpers/storage.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { opens, SEALED } from '../service/app/sealedValues.ts';

describe('rotate-encryption-key on a database', () => {
  let storage: Storage;
  let receiver: EventReceiver;
  beforeEach(async () => {
    [storage, receiver] = [await freshStorage('data'), await startEventReceiver()];
  });
  afterEach(async () => {
    await receiver.close();
    await storage.remove();
  });

  const rotate = async (newKey: string) => {
    const file = join(storage.folder, 'new.key');
    await writeFile(file, `${newKey}\n`);
    const args = ['rotate-encryption-key', '--new-key-file', file];
    return runCommand(args, storage.env, { cwd: storage.folder });
  };

  it('seals everything again, for processes that start with the new key', async () => {
    const caFile = join(storage.folder, 'ca.pem');
    await writeFile(caFile, receiver.ca);
    const first = await startServiceProcess({ caFile, env: storage.env });
    const hook = await receiver.subscribe(first, 'message.received');
    await first.close();

    const newKey = randomBytes(32).toString('base64');
    const { code, out, err } = await rotate(newKey);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(
      new RegExp(
        `^Sealed \\d+ records? with the new key\\. The old key opens nothing in the schema ${storage.env.DATABASE_SCHEMA} of the database any more\\. Set ENCRYPTION_KEY to the key in .*new\\.key before the next start\\.\\n$`,
      ),
    );
    expect(existsSync(join(storage.folder, 'data'))).toBe(false);
    const sealed = (await storage.stored()).match(SEALED) ?? [];
    expect(sealed.length).toBeGreaterThan(0);
    const [from, to] = [storage.env.ENCRYPTION_KEY!, newKey].map((key) =>
      createSecretBox(parseEncryptionKey(key, 'it')),
    );
    expect(sealed.map((each) => [opens(from!, each), opens(to!, each)])).toEqual(
      sealed.map(() => [false, true]),
    );

    await expect(startServiceProcess({ caFile, env: storage.env })).rejects.toThrow(
      /The encryption key is not the one/,
    );
    const second = await startServiceProcess({
      caFile,
      env: { ...storage.env, ENCRYPTION_KEY: newKey, BOOTSTRAP_API_KEY: first.apiKey },
    });
    try {
      await fetch(`${second.url}/api/hooks/${hook.id}/test`, {
        method: 'POST',
        headers: { authorization: `Bearer ${first.apiKey}` },
      });
      await waitFor('a delivery, signed as before', () => receiver.requests.length === 1);
      expect(receiver.faults).toEqual([]);
    } finally {
      await second.close();
    }
  }, 120_000);

  it('says that there is nothing to seal when no service was ever started', async () => {
    const { code, err } = await rotate(randomBytes(32).toString('hex'));
    expect([code, err]).toEqual([
      1,
      `conversation-service: There is nothing in the schema ${storage.env.DATABASE_SCHEMA} to seal with a new key: the service was never started with this DATABASE_URL and DATABASE_SCHEMA.\n`,
    ]);
  });
});
