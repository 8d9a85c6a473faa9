import { describe, expect, it } from '@jest/globals';
import {
  checkSetup,
  type SetupField,
} from '../../../service/src/platform/accounts/accountSetup.ts';
import { AppError } from '../../../service/src/platform/http/errorCatalogue.ts';

const FIELDS: readonly SetupField[] = [
  {
    name: 'account',
    label: 'Account',
    help: '',
    kind: 'text',
    isRequired: true,
    pattern: /^\d{3,}$/g,
    hint: 'must be digits',
    max: 5,
  },
  { name: 'note', label: 'Note', help: '', kind: 'lines', isRequired: false, max: 20 },
  { name: 'token', label: 'Token', help: '', kind: 'secret', isRequired: true, max: 10 },
  { name: 'spare', label: 'Spare', help: '', kind: 'secret', isRequired: false, max: 10 },
  { name: 'verify', label: 'Verify', help: '', kind: 'generated', isRequired: false, max: 40 },
];
const NEW = { isNew: true };
const CHANGE = { isNew: false };

const refusal = (given: Record<string, string>, how: { isNew: boolean }) => {
  try {
    checkSetup(FIELDS, given, how);
  } catch (error) {
    if (error instanceof AppError)
      return { code: error.code, param: error.details.param, message: error.message };
    throw error;
  }
  return null;
};

describe('what a team fills in', () => {
  it('is trimmed and divided into settings and secrets; generated values are made', () => {
    const { settings, secrets, removed } = checkSetup(
      FIELDS,
      { account: ' 1234 ', note: '\none\ntwo\n', token: '\ts3cret ' },
      NEW,
    );
    expect(settings).toEqual({ account: '1234', note: 'one\ntwo' });
    expect(secrets).toEqual({ token: 's3cret', verify: expect.stringMatching(/^[\w-]{32}$/) });
    expect(removed).toEqual([]);
  });

  it('gets a new generated value each time, unless one is given', () => {
    const verifyOf = (given: Record<string, string>) =>
      checkSetup(FIELDS, { account: '123', token: 't', ...given }, NEW).secrets.verify;
    expect(verifyOf({})).not.toBe(verifyOf({}));
    expect(verifyOf({ verify: 'mine' })).toBe('mine');
    expect(verifyOf({ verify: ' ' })).toMatch(/^[\w-]{32}$/);
  });

  it('stays as it is where a change leaves it out, generated values too', () => {
    const nothing = { settings: {}, secrets: {}, removed: [] };
    expect(checkSetup(FIELDS, {}, CHANGE)).toEqual(nothing);
    const secrets = { token: 'new' };
    expect(checkSetup(FIELDS, secrets, CHANGE)).toEqual({ ...nothing, secrets });
  });

  it('is removed by an empty text where it is not required', () => {
    expect(checkSetup(FIELDS, { note: '', spare: '  ' }, CHANGE)).toEqual({
      settings: {},
      secrets: {},
      removed: ['note', 'spare'],
    });
  });

  it.each<[string, Record<string, string>, { isNew: boolean }, string, string]>([
    ['a required value is missing', { token: 't' }, NEW, 'account', 'is missing'],
    [
      'a required value is empty',
      { account: ' ', token: 't' },
      NEW,
      'account',
      'must not be empty',
    ],
    ['a required secret would be removed', { token: '' }, CHANGE, 'token', 'must not be empty'],
    ['a value does not match its pattern', { account: '12x' }, CHANGE, 'account', 'must be digits'],
    [
      'a value is too long',
      { account: '123456' },
      CHANGE,
      'account',
      'must have at most 5 characters',
    ],
    ['a secret holds a line break', { token: 'a\r\nb' }, CHANGE, 'token', 'must be one line'],
    ['a text holds NUL', { note: 'a\0b' }, CHANGE, 'note', 'well-formed'],
    ['a text holds half a character', { note: 'a\ud800b' }, CHANGE, 'note', 'well-formed'],
    [
      'a name is not known',
      { acount: '123' },
      CHANGE,
      'acount',
      'the fields are account, note, token, spare, verify',
    ],
    [
      'a name is that of a property of every object',
      { constructor: 'x' },
      CHANGE,
      'constructor',
      'is not a known field',
    ],
    [
      'a name is __proto__',
      JSON.parse('{"__proto__":"x"}') as Record<string, string>,
      CHANGE,
      '__proto__',
      'is not a known field',
    ],
  ])('is refused where %s', (_why, given, how, field, words) => {
    expect(refusal(given, how)).toEqual({
      code: 'invalid_request',
      param: `settings.${field}`,
      message: expect.stringContaining(words),
    });
  });

  it('counts characters as people do, and says nothing of the value', () => {
    expect(refusal({ token: '😀'.repeat(10) }, CHANGE)).toBeNull();
    expect(refusal({ token: 'hidden-value-too-long' }, CHANGE)?.message).not.toContain('hidden');
  });
});
