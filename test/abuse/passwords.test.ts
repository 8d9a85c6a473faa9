// Attacks 1, 5 and 6: forms that take passwords.
import { describe, expect, it } from '@jest/globals';
import { browserless, MEMBER } from '../helpers/browserless.ts';
import { strangerAddress } from './addresses.ts';
import { sized } from './size.ts';
import { onStage } from './stage.ts';

/** More than an attack sends before its time is over. */
const ENDLESS = 1_000_000_000;
const ONE_ADDRESS = '203.0.113.66';

/** Requests to sign in. Every other one comes from one address, each of the rest from its own. */
const signIns = (email: string, addresses: number) =>
  Array.from({ length: addresses }, (_, n) => ({
    path: '/sign-in',
    from: n % 2 === 0 ? ONE_ADDRESS : strangerAddress(n),
    form: { email, password: 'wrong {n}' },
  }));

// Each join cost an Argon2id before anybody looked for the invitation, on the threads that the
// journal writes with: with 100 connections a chat message took 2.7 s, with 400 the store refused
// writes.
describe('1: joins by made-up invitations', () => {
  it('leave every other request answered', () =>
    onStage({}, async (stage) => {
      const form = {
        token: 'invitation-{n}'.padStart(43, '-'),
        name: 'Eve',
        email: 'eve{n}@example.com',
        password: 'a long enough password',
      };
      const counts = await stage.attack('1: joins by made-up invitations', 'requests', {
        requests: Array.from({ length: 50 }, (_, n) => ({
          path: '/join',
          from: strangerAddress(n),
          form,
        })),
        count: ENDLESS,
        connections: sized(100, 400),
      });
      expect(counts['answers 404']).toBeGreaterThan(0);
      await stage.expectNoHarm();
    }));
});

// 460,000 refused sign-ins left 592 MB in the limiter's maps.
describe('5: sign-ins under ever new e-mails, from one address and from many', () => {
  it('leave nothing in memory', () =>
    onStage({}, async (stage) => {
      const tries = sized(20_000, 100_000);
      const counts = await stage.attack(
        `5: ${tries} sign-ins under new e-mails, from one address and from many`,
        'requests',
        { requests: signIns('nobody-{n}@example.com', 60), count: tries, connections: 100 },
      );
      expect(counts['answers 401']).toBeGreaterThan(0);
      expect(counts['answers 429']).toBeGreaterThan(0);
      await stage.expectNoHarm();
    }));
});

// 105 wrong passwords from one address locked the member out everywhere.
describe('6: wrong passwords for a member’s e-mail, from one address and from many', () => {
  it('do not lock the member out', () =>
    onStage({}, async (stage) => {
      const tries = sized(300, 1000);
      const counts = await stage.attack(
        `6: ${tries} wrong passwords for a member’s e-mail, from one address and from many`,
        'requests',
        { requests: signIns(MEMBER.email, 200), count: tries, connections: 4 },
      );
      expect(counts['answers 401']).toBeGreaterThan(0);
      const headers = { 'x-forwarded-for': '192.0.2.254' };
      const { path } = await browserless(stage.service.url).post(
        '/sign-in',
        { ...MEMBER, next: '/account' },
        { headers },
      );
      expect(path).toBe('/account');
      await stage.expectNoHarm();
    }));
});
