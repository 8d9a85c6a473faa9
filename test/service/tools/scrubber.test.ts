import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { scrubber } from '../../../service/src/tools/calls/scrubber.ts';
import { cpuMsOf } from '../../helpers/cpuTime.ts';

const SECRET = 'p@ss/w+rd "ü" (x)!~&';
const scrub = scrubber([SECRET]);
const base64 = (text: string, encoding: 'base64' | 'base64url' = 'base64') =>
  Buffer.from(text).toString(encoding);

describe('scrubber', () => {
  it.each([
    ['as it is', SECRET],
    ['URL-encoded', encodeURIComponent(SECRET)],
    [
      'URL-encoded in lower case',
      encodeURIComponent(SECRET).replace(/%../g, (code) => code.toLowerCase()),
    ],
    [
      "URL-encoded, with !'()* escaped too",
      encodeURIComponent(SECRET).replace(
        /[!'()*]/g,
        (sign) => `%${sign.charCodeAt(0).toString(16)}`,
      ),
    ],
    ['as a form', new URLSearchParams({ a: SECRET }).toString().slice(2)],
    ['JSON-escaped', JSON.stringify(SECRET).slice(1, -1)],
    ['JSON-escaped in ASCII', JSON.stringify(SECRET).slice(1, -1).replace('ü', '\\u00fc')],
    [
      'JSON-escaped in ASCII, in upper case',
      JSON.stringify(SECRET).slice(1, -1).replace('ü', '\\u00FC'),
    ],
    ['JSON-escaped with slashes', JSON.stringify(SECRET).slice(1, -1).replace('/', '\\/')],
    [
      'JSON-escaped as by Go, whose encoder also escapes <, > and &',
      JSON.stringify(SECRET).slice(1, -1).replace('&', '\\u0026'),
    ],
    [
      "JSON-escaped as by .NET, whose encoder also escapes +, ' and quotes",
      JSON.stringify(SECRET)
        .slice(1, -1)
        .replaceAll('\\"', '\\u0022')
        .replace('&', '\\u0026')
        .replace('+', '\\u002B')
        .replace('ü', '\\u00FC'),
    ],
    ['in base64', base64(SECRET)],
    ['in base64 without padding', base64(SECRET).replace(/=+$/, '')],
    ['in base64url', base64(SECRET, 'base64url')],
  ])('replaces a secret %s', (_how, spelling) => {
    expect(scrub(`a ${spelling} b ${spelling}`)).toBe('a [secret] b [secret]');
  });

  it.each(['', 'a', 'ab', 'user:', 'user1:'])(
    'finds a secret in the base64 of a longer text that begins with %j',
    (before) => {
      for (const encoding of ['base64', 'base64url'] as const) {
        const encoded = base64(`${before}${SECRET} and more`, encoding);
        const scrubbed = scrub(`Basic ${encoded}`);
        expect(scrubbed).toContain('[secret]');
        expect(scrubbed.length).toBeLessThan(`Basic ${encoded}`.length - 12);
      }
    },
  );

  it('replaces the longest first, and both of two that overlap', () => {
    expect(scrubber(['abcd', 'abcdefgh'])('x abcdefgh abcd')).toBe('x [secret] [secret]');
    expect(scrubber(['abcdef', 'efghij'])('x abcdefghij x')).toBe('x [secret] x');
    expect(scrubber(['aaaa'])('aaaaaaaa')).toBe('[secret][secret]');
  });

  it('leaves short secrets and other texts alone', () => {
    expect(scrubber(['abc', ''])('abc abc')).toBe('abc abc');
    expect(scrubber([])('abc')).toBe('abc');
    expect(scrub('nothing of it')).toBe('nothing of it');
  });

  it('finds a secret without the spaces around it, as a header carries it', () => {
    expect(scrubber([' key-4711\n'])('got key-4711.')).toBe('got [secret].');
  });

  it('leaves no secret, whatever it is made of', () => {
    const secret = fc.string({ unit: 'binary', minLength: 4, maxLength: 20 });
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 4 }),
        fc.string({ unit: 'binary' }),
        (secrets, between) => {
          const scrubbed = scrubber(secrets)(secrets.join(between));
          for (const one of secrets)
            if (!'[secret]'.includes(one) && !between.includes(one))
              expect(scrubbed.split('[secret]').some((rest) => rest.includes(one))).toBe(false);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('takes a moment for 5 MB and twenty secrets', () => {
    const many = scrubber(
      Array.from({ length: 20 }, (_, index) => `secret/number+${index}-${'x'.repeat(30)}`),
    );
    const cpuMs = cpuMsOf(() => {
      many('secret/number+ '.repeat(350_000));
      scrubber(['a'.repeat(1000)])('a'.repeat(5_000_000));
    });
    expect(cpuMs).toBeLessThan(10_000);
  });
});
