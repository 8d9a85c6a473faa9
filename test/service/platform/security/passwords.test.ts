// Passwords are hashed in threads of their own: nothing else waits for them, and few of them wait.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { unwatchedBounds } from '../../../../service/src/platform/limits/bounds.ts';
import {
  MAX_HASHES,
  MAX_WAITING,
  PasswordThreads,
} from '../../../../service/src/platform/security/passwords.ts';
import { browserless, MEMBER, MEMBER_ENV, signedInBrowser } from '../../../helpers/browserless.ts';
import { boundReached } from '../../../helpers/metrics.ts';
import { chatCustomer } from '../../../helpers/apiClient.ts';
import { postFrom } from '../../../helpers/postFrom.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { waitFor } from '../../../helpers/waitFor.ts';

const beside = (name: string) => new URL(name, import.meta.url);

/** The script of a thread that hashes passwords, and stands still while the file `gate` exists. */
const gated = (gate: string) => `
  import { existsSync } from 'node:fs';
  import { parentPort } from 'node:worker_threads';
  const cell = new Int32Array(new SharedArrayBuffer(4));
  parentPort.on('message', () => {
    while (existsSync(${JSON.stringify(gate)})) Atomics.wait(cell, 0, 0, 5);
  });
  await import('${beside('../../../helpers/cheapPasswords.child.ts')}');
`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'passwords-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('the threads for passwords', () => {
  const faults: unknown[] = [];
  let threads: PasswordThreads;
  const open = (script?: URL) => {
    const log = { error: (fault: unknown) => void faults.push(fault) };
    threads = new PasswordThreads({ bounds: unwatchedBounds, log, script });
    return threads;
  };
  afterEach(() => threads.close());

  it('hash and compare; without a stored hash, every password is wrong', async () => {
    const passwords = open();
    const hash = await passwords.hash('correct horse');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await passwords.isRight('correct horse', hash)).toBe(true);
    expect(await passwords.isRight('wrong horse', hash)).toBe(false);
    expect(await passwords.isRight('correct horse', null)).toBe(false);
    await expect(passwords.isRight('x', 'no hash')).rejects.toThrow();
    expect(await passwords.isRight('correct horse', hash)).toBe(true);
  });

  it('fail the hash on which a thread breaks, and go on with another thread', async () => {
    const passwords = open(beside('./breakingThread.child.ts'));
    const broken = [passwords.hash('throw'), passwords.hash('exit')];
    const after = Array.from({ length: 6 }, (_, n) => passwords.hash(`${n}`));
    const failing = broken.map((each) =>
      expect(each).rejects.toMatchObject({ code: 'unavailable' }),
    );
    await Promise.all(failing);
    expect(await Promise.all(after)).toEqual(['0', '1', '2', '3', '4', '5']);
    expect(faults).toHaveLength(1);
  });

  it('end when closed, and fail the hashes that wait', async () => {
    const passwords = open(beside('./breakingThread.child.ts'));
    const waiting = Array.from({ length: 5 }, () => passwords.hash('hang'));
    const ends = waiting.map((each) => expect(each).rejects.toMatchObject({ code: 'unavailable' }));
    await Promise.all([passwords.close(), ...ends]);
    await expect(passwords.hash('late')).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('a process that hashes', () => {
  const run = async (...args: string[]) => {
    const child = fileURLToPath(beside('./passwords.child.ts'));
    const env = { ...process.env, UV_THREADPOOL_SIZE: '1' };
    const options = { timeout: 20_000, env };
    return (await promisify(execFile)(process.execPath, [child, ...args], options)).stdout.trim();
  };

  it('needs none of the threads that write files: all of them may be busy', async () => {
    expect(await run(join(folder, 'pipe'))).toBe('hashed, then the file was opened');
  });

  it('waits for its hash, and ends by itself when it has it', async () => {
    expect(await run()).toBe('hashed');
  });
});

it('a thread keeps the low priority of its process, which Linux does not let it raise', async () => {
  const child = fileURLToPath(beside('./nicePriority.child.ts'));
  const args = ['-n', '15', process.execPath, child];
  const { stdout } = await promisify(execFile)('nice', args, { timeout: 20_000 });
  // The tests may run with a low priority themselves; 19 is the lowest.
  expect(stdout.trim()).toBe(String(Math.min(getPriority() + 15, 19)));
});

describe('a service whose threads for passwords are busy', () => {
  let gate: string;
  let service: TestService;
  beforeEach(async () => {
    gate = join(folder, 'closed');
    const script = join(folder, 'gated.mjs');
    await writeFile(script, gated(gate));
    service = await startTestService({
      env: { ...MEMBER_ENV, TRUSTED_PROXIES: '127.0.0.2/32' },
      passwordThread: pathToFileURL(script),
    });
  });
  const closeGate = () => writeFile(gate, '');
  const openGate = () => rm(gate, { force: true });
  afterEach(async () => {
    await openGate();
    await service?.stop();
  });

  const signInFrom = (n: number) =>
    postFrom('127.0.0.2', `${service.url}/sign-in`, {
      forwardedFor: `192.0.2.${n}`,
      form: { email: `nobody${n}@example.com`, password: 'wrong' },
    });

  it('keeps writing, refuses the 53rd password, and answers the others in the end', async () => {
    await closeGate();
    const [held, refusals] = [MAX_HASHES + MAX_WAITING, 8];
    expect(held).toBe(52);
    const answered: number[] = [];
    const all = Array.from({ length: held + refusals }, async (_, n) => {
      answered.push(await signInFrom(n));
    });
    await waitFor('refusals', () => answered.length >= refusals);
    const ben = { email: 'ben@example.com', password: 'wrong' };
    const refused = await browserless(service.url).post('/sign-in', ben);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2']);
    expect(refused.text).toContain('Too many passwords are being checked at the moment.');

    await (await chatCustomer(service.url)).write('Is anybody there?'); // confirmed by the store
    expect(answered).toEqual(Array(refusals).fill(429));

    await openGate();
    await Promise.all(all);
    expect(answered.slice(refusals)).toEqual(Array(held).fill(401));
    expect(await boundReached(service.url, 'password_hashes')).toBe(refusals + 1);
    expect((await signedInBrowser(service.url)).cookie).toContain('cs_session');
  });

  it('lets a member wait ahead of those who try again and again, and refuses one of them to make room', async () => {
    await closeGate();
    const answered: number[] = [];
    const all = Array.from({ length: MAX_HASHES + MAX_WAITING + 8 }, async (_, n) => {
      answered.push(await signInFrom(n % 10));
    });
    await waitFor('refusals', () => answered.length >= 8);
    const { email, password } = MEMBER;
    const member = postFrom('127.0.0.2', `${service.url}/sign-in`, {
      forwardedFor: '192.0.2.99',
      form: { email, password },
    });
    await waitFor('one to make room', () => answered.length >= 9);
    expect(answered).toEqual(Array(9).fill(429));
    await openGate();
    expect(await member).toBe(303);
    await Promise.all(all);
  });

  it('hashes nothing for an invitation or a set-up link that does not exist', async () => {
    await closeGate();
    const eve = { name: 'Eve', email: 'eve@example.com', password: 'a long password' };
    const person = { ...eve, token: 'made-up', workspace: 'Shop' };
    for (const path of ['/join', '/setup']) {
      const post = () => browserless(service.url).post(path, person);
      const tries = await Promise.all(Array.from({ length: 40 }, post));
      expect(new Set(tries.map((page) => page.status))).toEqual(new Set([404]));
    }
  });
});
