// Attacks 1, 5 and 6: where passwords are given.
import { describe, expect, it } from '@jest/globals';
import { browserless, MEMBER } from '../helpers/browserless.ts';
import { sized } from './size.ts';
import { onStage } from './stage.ts';

describe('1: joins by made-up invitations', () => {
  it('hold up nobody', () =>
    onStage({}, async (stage) => {
      const counts = await stage.attack('1: joins by made-up invitations', 'join', {
        connections: sized(100, 400),
        addresses: 50,
      });
      expect(Object.keys(counts).sort()).toEqual(expect.arrayContaining(['joins 404']));
      await stage.settle();
    }));
});

describe('5: sign-ins under ever new e-mails', () => {
  it('leave nothing behind, from one address and from many', () =>
    onStage({}, async (stage) => {
      const tries = sized(20_000, 100_000);
      await stage.attack(
        `5: ${tries} sign-ins under new e-mails, from one address and from many`,
        'signIns',
        { tries, connections: 100, addresses: 60 },
      );
      await stage.settle();
    }));
});

describe('6: wrong passwords for a member’s e-mail', () => {
  it('do not lock the member out, from one address and from many', () =>
    onStage({}, async (stage) => {
      const tries = sized(300, 1000);
      await stage.attack(
        `6: ${tries} wrong passwords for a member’s e-mail, from one address and from many`,
        'signIns',
        { tries, connections: 4, addresses: 200, email: MEMBER.email },
      );
      const headers = { 'x-forwarded-for': '192.0.2.254' };
      const { path } = await browserless(stage.service.url).post(
        '/sign-in',
        { ...MEMBER, next: '/account' },
        { headers },
      );
      expect(path).toBe('/account');
      await stage.settle();
    }));
});
