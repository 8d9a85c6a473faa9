import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../service/src/platform/json.ts';
import { cpuMsOf } from '../../helpers/cpuTime.ts';
import { check, refusal, withA, withProperties } from './parametersSupport.ts';

const listOf = <T>(length: number, item: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => item(index));

/**
 * Runs it, and expects it to take less CPU time than this: about ten times what it takes. Without
 * its bounds it would take minutes.
 */
function within<T>(maxCpuMs: number, run: () => T): T {
  let result: T;
  const cpuMs = cpuMsOf(() => {
    result = run();
  });
  expect(cpuMs).toBeLessThan(maxCpuMs);
  return result!;
}

describe('hostile parameters and arguments cost little', () => {
  const doubling = (levels: number): JsonObject => {
    const twice = (level: number) => ({
      allOf: [{ $ref: `#/$defs/d${level + 1}` }, { $ref: `#/$defs/d${level + 1}` }],
    });
    const defs = Object.fromEntries(listOf(levels, (level) => [`d${level}`, twice(level)]));
    return withProperties(
      { a: { $ref: '#/$defs/d0' } },
      { $defs: { ...defs, [`d${levels}`]: { type: 'string' } } },
    );
  };

  it.each(['(a+)+$', '(a|aa)+$', '(a|a)*b$', '^(\\w+\\s?)*$', '(x+x+)+y', '(.*a){20}$'])(
    'the pattern %s on 64 KiB',
    (pattern) => {
      const schema = withA({ pattern });
      expect(within(15_000, () => check(schema, { a: `${'a'.repeat(65_000)}!` }))).toMatch(
        /^arguments/,
      );
    },
  );

  it('patterns that RE2 itself is slow at, each and together', () => {
    const text = listOf(60_000, () => (Math.random() < 0.5 ? 'a' : 'b')).join('');
    expect(
      within(15_000, () => check(withA({ pattern: '(a|b)*a(a|b){900}$' }), { a: text })),
    ).toMatch(/takes too long/);
    const many = withA({ allOf: listOf(300, (index) => ({ pattern: `[ab]{9}$|${index}` })) });
    expect(within(15_000, () => check(many, { a: text }))).toMatch(/^arguments/);
  });

  it('a pattern that takes too long leaves the next check its time', () => {
    const schema = withA({ pattern: '(a|b)*a(a|b){900}$' });
    expect(check(schema, { a: 'ab'.repeat(30_000) })).toMatch(/takes too long/);
    expect(check(schema, { a: 'ab' })).toMatch(/must match/);
  });

  it('a long enum for each item of a long list is refused before it is checked', () => {
    const schema = withA({ items: { enum: listOf(5000, (index) => index) } });
    expect(check(schema, { a: listOf(10_000, () => 4999) })).toBe(
      'arguments are too large for parameters with so many rules; send less.',
    );
    expect(check(schema, { a: listOf(100, () => 4999) })).toBeNull();
  });

  it('doubling by references', () => {
    expect(within(5000, () => refusal(doubling(25)))).toMatchObject({
      message: expect.stringContaining('too large'),
    });
    const small = doubling(7);
    expect(within(10_000, () => check(small, { a: 1 }))).toBe('arguments.a must be a string.');
  });

  it('a long chain of references, and many that lead to one large schema', () => {
    const chain: JsonObject = Object.fromEntries(
      listOf(900, (index): [string, JsonObject] => [
        `d${index}`,
        index === 899 ? {} : { $ref: `#/$defs/d${index + 1}` },
      ]),
    );
    expect(
      within(5000, () => refusal(withProperties({ a: { $ref: '#/$defs/d0' } }, { $defs: chain }))),
    ).toMatchObject({ message: expect.stringContaining('nested too deeply') });
    const big = { allOf: listOf(900, () => ({})) };
    const many = Object.fromEntries(listOf(700, (index) => [`d${index}`, { $ref: '#/$defs/big' }]));
    expect(within(5000, () => refusal({ $defs: { ...many, big } }))).toBeNull();
  });

  it.each<[string, JsonObject, unknown]>([
    [
      '900 properties',
      withProperties(Object.fromEntries(listOf(900, (index) => [`p${index}`, { type: 'string' }]))),
      { p1: 5 },
    ],
    [
      '900 rules for one text',
      withA({ allOf: listOf(900, () => ({ minLength: 1 })) }),
      { a: 'x'.repeat(60_000) },
    ],
    [
      '900 choices',
      withA({ items: { anyOf: listOf(900, (index) => ({ const: index })) } }),
      { a: listOf(20_000, () => -1) },
    ],
    [
      'a long enum for a long list',
      withA({ items: { enum: listOf(5000, (index) => index) } }),
      { a: listOf(20_000, () => 4999) },
    ],
    [
      'a long list of unique items',
      withA({ uniqueItems: true }),
      { a: listOf(11_000, (index) => index) },
    ],
    [
      'a long list of unique objects',
      withA({ uniqueItems: true, items: { type: 'object' } }),
      { a: listOf(4000, (index) => ({ i: index })) },
    ],
    [
      'unevaluated names',
      {
        anyOf: listOf(300, (index) => ({
          properties: { [`a${index}`]: { type: 'string' } },
        })),
        unevaluatedProperties: false,
      },
      Object.fromEntries(listOf(4000, (index) => [`a${index}`, 'b'])),
    ],
    [
      'names that match patterns',
      {
        patternProperties: Object.fromEntries(listOf(200, (index) => [`(.*a){3}${index}$`, {}])),
      },
      Object.fromEntries(listOf(4000, (index) => [`aaaa${index}`, 1])),
    ],
    ['3,000 required names', withA({ required: listOf(3000, (index) => `r${index}`) }), { a: {} }],
    [
      '1,500 dependent names',
      withA({
        dependentRequired: Object.fromEntries(listOf(1500, (index) => [`r${index}`, ['a']])),
      }),
      { a: { r1: 1 } },
    ],
  ])('%s', (_what, schema, args) => {
    // Either may be refused.
    within(20_000, () => {
      if (refusal(schema) === null)
        expect(check(schema, args) ?? 'arguments').toMatch(/^arguments/);
    });
  });

  const FORMATS = [
    'date',
    'time',
    'date-time',
    'iso-time',
    'iso-date-time',
    'duration',
    'uri',
    'uri-reference',
    'uri-template',
    'url',
    'email',
    'hostname',
    'ipv4',
    'ipv6',
    'regex',
    'uuid',
    'json-pointer',
    'json-pointer-uri-fragment',
    'relative-json-pointer',
    'byte',
  ];
  it('all formats on 60 KiB', () => {
    const schema = withA({
      allOf: FORMATS.map((format): JsonObject => ({ anyOf: [{ format }, { type: 'string' }] })),
    });
    const starts = [
      '',
      'a',
      'http://',
      'a@',
      'P',
      '{',
      '/',
      '#',
      'urn:uuid:',
      '2026-01-01T',
      '10:10:10.',
      'http://a.',
      '[',
    ];
    const middles = [
      'a',
      '1',
      '.',
      '-',
      ':',
      '/',
      '%41',
      'a.',
      'a-',
      '{a}',
      '~0',
      '1Y',
      '::',
      '(a+)+',
      ' ',
      '255.',
      'AAAA',
      '\n',
    ];
    for (const start of starts) {
      for (const middle of middles) {
        const length = middle.length + (middle === '\n' ? 1 : 0); // as JSON
        const args = { a: `${start}${middle.repeat(Math.floor(60_000 / length))}!` };
        expect(within(500, () => check(schema, args))).toBeNull();
      }
    }
  });
});
