// How often a password may be tried; who is refused, and who never is.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Pauses } from '../../../../service/src/team/screens/signInAttempts.ts';
import { browserless, MEMBER, MEMBER_ENV } from '../../../helpers/browserless.ts';
import { postFrom } from '../../../helpers/postFrom.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';

const PROXY = '127.0.0.2';
const EVE = { name: 'Eve', email: 'eve@example.com', password: 'a long password' };
const WRONG_LINK = { ...EVE, token: 'x' };
/** Fifty passwords, most of them held back, on a machine that has other work. */
const SLOW_MS = 120_000;

describe('tries to sign in', () => {
  let service: TestService;
  beforeEach(async () => {
    service = await startTestService({ env: { ...MEMBER_ENV, TRUSTED_PROXIES: `${PROXY}/32` } });
  });
  afterEach(() => service?.stop());

  const post = (path: string, address: string, form: Record<string, string>) =>
    postFrom(PROXY, service.url + path, { forwardedFor: address, form });
  const signIn = (address: string, email: string, password = 'wrong') =>
    post('/sign-in', address, { email, password });
  /** In batches of 35, fewer than the service takes at once. */
  const inBatches = async (many: number, one: (n: number) => Promise<number>) => {
    const statuses: number[] = [];
    for (let begun = 0; begun < many; begun += 35) {
      const batch = Array.from({ length: Math.min(35, many - begun) }, (_, n) => one(begun + n));
      statuses.push(...(await Promise.all(batch)));
    }
    return statuses;
  };
  const countBy = (statuses: number[]) => {
    const counts: Record<number, number> = {};
    for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  };

  it('from one address end after ten with one e-mail and a hundred in all', async () => {
    const { email, password } = MEMBER;
    const tries = await inBatches(96, () => signIn('192.0.2.1', email));
    expect(countBy(tries)).toEqual({ 401: 10, 429: 86 });
    for (const spelling of [email, `A${email.slice(1)} `])
      expect(await signIn('192.0.2.1', spelling, password)).toBe(429);
    expect(await signIn('192.0.2.2', email, password)).toBe(303);

    const others = await inBatches(10, (n) => signIn('192.0.2.1', `somebody${n}@example.com`));
    expect(countBy(others)).toEqual({ 401: 2, 429: 8 });
    expect(await signIn('192.0.2.2', email, password)).toBe(303);
  });

  it('of a member are taken from an address from which somebody else guesses', async () => {
    await inBatches(20, () => signIn('192.0.2.1', 'somebody@example.com'));
    expect(await signIn('192.0.2.1', MEMBER.email, MEMBER.password)).toBe(303);
  });

  it(
    'from 50 addresses at most slow a member down, and do not lock them out',
    async () => {
      const tries = await inBatches(50, (n) => signIn(`192.0.2.${n}`, MEMBER.email));
      expect(countBy(tries)).toEqual({ 401: 50 });
      expect(await signIn('198.51.100.1', MEMBER.email, MEMBER.password)).toBe(303);
    },
    SLOW_MS,
  );

  it('that are refused get an answer that says when to come again, and their connection ends', async () => {
    const ana = { ...MEMBER, password: 'wrong' };
    for (let n = 0; n < 10; n++) await browserless(service.url).post('/sign-in', ana);
    const { status, headers, text } = await browserless(service.url).post('/sign-in', ana);
    expect([status, headers.get('connection')]).toEqual([429, 'close']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(600);
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(900);
    expect(text).toContain('Too many wrong passwords. Wait for 15 minutes and try again.');
  });

  it('count together with the links that are tried from the same address', async () => {
    const use = (path: string, address: string) => post(path, address, WRONG_LINK);
    expect(countBy(await inBatches(50, () => use('/join', '192.0.2.1')))).toEqual({ 404: 50 });
    const links = await inBatches(60, () => use('/setup', '192.0.2.1'));
    expect(countBy(links)).toEqual({ 404: 50, 429: 10 });
    expect(await signIn('192.0.2.1', MEMBER.email, MEMBER.password)).toBe(429);
    expect(await use('/join', '192.0.2.2')).toBe(404);
  });

  it('that were right do not count: an office signs in behind one address', async () => {
    const links = await inBatches(99, () => post('/join', '192.0.2.1', WRONG_LINK));
    expect(countBy(links)).toEqual({ 404: 99 });
    for (let n = 0; n < 12; n++)
      expect(await signIn('192.0.2.1', MEMBER.email, MEMBER.password)).toBe(303);
  });
});

describe('what is held back', () => {
  it('is limited in number: beyond the limit, the oldest goes on early', async () => {
    const pauses = new Pauses(2);
    const ended: string[] = [];
    const pause = (name: string, ms: number) => pauses.pause(ms).then(() => ended.push(name));
    const [first, second] = [pause('first', 60_000), pause('second', 60_000)];
    const third = pause('third', 1);
    await Promise.all([first, third]);
    expect([ended, pauses.size]).toEqual([['first', 'third'], 1]);
    await Promise.all([second, pause('fourth', 1), pause('fifth', 1)]);
    expect(pauses.size).toBe(0);
  });
});
