import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../service/src/platform/json.ts';
import { ParametersError } from '../../../service/src/platform/linearPattern.ts';
import { compileParameters } from '../../../service/src/tools/definition/parametersSchema.ts';
import { cpuMsOf } from '../../helpers/cpuTime.ts';

const withProperties = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});

/** Parameters with one property, `a`. */
const withA = (schema: JsonObject | boolean): JsonObject => withProperties({ a: schema });

const listOf = <T>(length: number, item: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => item(index));

/** @returns null when the arguments fit, else the sentence that says why not */
const check = (schema: JsonObject, args: unknown) => compileParameters(schema).check(args);

/** @returns why a schema is refused and where, or null when it is not */
function refusal(schema: unknown): { param: string; message: string } | null {
  try {
    compileParameters(schema as JsonObject);
    return null;
  } catch (error) {
    if (!(error instanceof ParametersError)) throw error;
    return { param: error.param, message: error.message };
  }
}

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

describe('parameters of a tool, checked against arguments', () => {
  it.each<[JsonObject, unknown, string | null]>([
    [
      withProperties({ date: { type: 'string' } }, { required: ['date'] }),
      {},
      'arguments.date is missing.',
    ],
    [withA({ type: 'string' }), { a: 5 }, 'arguments.a must be a string.'],
    [withA({ type: 'string' }), { a: 'x', other: [] }, null],
    [
      withA({ format: 'date' }),
      { a: '2026-02-30' },
      'arguments.a must have the format date, like 2026-11-21.',
    ],
    [withA({ format: 'no-such-format' }), { a: 'x' }, null],
    [
      withA({ type: ['integer', 'null'] }),
      { a: 1.5 },
      'arguments.a must be a whole number or null.',
    ],
    [withA({ enum: ['a', 2] }), { a: 'b' }, 'arguments.a must be one of "a", 2.'],
    [withA({ const: 'a' }), { a: 'b' }, 'arguments.a must be "a".'],
    [withA({ minimum: 3 }), { a: 1 }, 'arguments.a must be >= 3.'],
    [withA({ multipleOf: 0.01 }), { a: 19.99 }, null],
    [withA({ minLength: 2 }), { a: 'a' }, 'arguments.a must not have fewer than 2 characters.'],
    [withA({ pattern: '^[a-z]+$' }), { a: 'A' }, 'arguments.a must match the pattern ^[a-z]+$.'],
    [withA({ pattern: '^\\u00e9\\d$' }), { a: 'é5' }, null],
    [
      withProperties({}, { additionalProperties: false }),
      { x: 1 },
      'arguments.x is not known; leave it out.',
    ],
    [
      withA({ items: { properties: { n: { type: 'number' } } } }),
      { a: [{ n: 1 }, { n: '1' }] },
      'arguments.a.1.n must be a number.',
    ],
    [
      withProperties({ 'a/b~c': { type: 'null' } }),
      { 'a/b~c': 1 },
      'arguments.a/b~c must be null.',
    ],
    [
      withA({ anyOf: [{ type: 'string' }, { type: 'null' }] }),
      { a: 1 },
      'arguments.a must be a string, or must be null.',
    ],
    [
      withA({ anyOf: [{ type: 'object', required: ['x'] }, { type: 'null' }] }),
      { a: {} },
      'arguments.a.x is missing.',
    ],
    [
      withA({ oneOf: [{ type: 'number' }, { minimum: 0 }] }),
      { a: 1 },
      'arguments.a fits more than one of the allowed shapes; it must fit exactly one.',
    ],
    [
      withA({ not: { type: 'string' } }),
      { a: 'x' },
      'arguments.a has a value that is not allowed.',
    ],
    [withA(false), { a: 1 }, 'arguments.a is not allowed; leave it out.'],
    [
      withA({ uniqueItems: true }),
      {
        a: [
          { x: 1, y: 2 },
          { y: 2, x: 1 },
        ],
      },
      'arguments.a must not hold the same item twice.',
    ],
    [withA({ uniqueItems: true }), { a: [1, '1', [1], { 1: 1 }, true, null] }, null],
    [
      withProperties({ a: { $ref: '#/$defs/x~1y' } }, { $defs: { 'x/y': { type: 'string' } } }),
      { a: 1 },
      'arguments.a must be a string.',
    ],
    [
      withProperties(
        { a: { $ref: '#/$defs/s', maxLength: 1 } },
        { $defs: { s: { type: 'string' } } },
      ),
      { a: 'xx' },
      'arguments.a must not have more than 1 character.',
    ],
    [
      {
        $ref: '#/$defs/b',
        allOf: [{ properties: { x: true } }],
        unevaluatedProperties: false,
        $defs: { b: { properties: { y: { type: 'string' } } } },
      },
      { x: 1, y: 'y', z: 1 },
      'arguments.z is not known; leave it out.',
    ],
    [{ if: { required: ['a'] }, then: { required: ['b'] } }, { a: 1 }, 'arguments.b is missing.'],
    [
      { propertyNames: { pattern: '^[a-z]$' } },
      { AB: 1 },
      'arguments must not have a field named "AB".',
    ],
    [{ dependentRequired: { a: ['b'] } }, { a: 1 }, 'arguments.b is missing; it is needed with a.'],
    [
      { $async: true, properties: { a: { type: 'string', $async: true } } },
      { a: 1 },
      'arguments.a must be a string.',
    ],
    [
      {
        nullable: true,
        'x-order': 1,
        properties: { a: { type: 'string', nullable: true, id: 'x', $anchor: 'y', example: 1 } },
      },
      { a: null },
      'arguments.a must be a string.',
    ],
    [
      {
        $id: 'https://example.com/tool',
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: ['object'],
      },
      {},
      null,
    ],
    [{}, [], 'arguments must be an object.'],
    [{}, null, 'arguments must be an object.'],
    [{}, undefined, 'arguments must be an object.'],
    [{}, 'x', 'arguments must be an object.'],
  ])('%j and %j: %s', (schema, args, sentence) => {
    expect(check(schema, args)).toBe(sentence);
  });

  it('reads own properties only', () => {
    const schema = withProperties(
      { toString: { type: 'string' }, constructor: { type: 'string' } },
      { required: ['constructor'] },
    );
    expect(check(schema, {})).toBe('arguments.constructor is missing.');
    expect(check(withProperties({ toString: { type: 'string' } }), {})).toBeNull();
    expect(
      check(withProperties({}, { additionalProperties: false }), JSON.parse('{"__proto__":{}}')),
    ).toBe('arguments.__proto__ is not known; leave it out.');
  });

  it('never changes arguments: no defaults, no coercion', () => {
    const schema = withProperties(
      { a: { type: 'number', default: 5 }, b: { type: 'number' } },
      { additionalProperties: true },
    );
    const args = Object.freeze({ b: 1, c: Object.freeze([1]) });
    expect(check(schema, args)).toBeNull();
    expect(check(schema, { b: '1' })).toBe('arguments.b must be a number.');
    expect(args).toEqual({ b: 1, c: [1] });
  });

  it('refuses arguments that are larger than 64 KiB, deeper than 32 levels, or not JSON', () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    expect(check({}, { a: 'x'.repeat(65_000) })).toBeNull();
    expect(check({}, { a: 'é'.repeat(33_000) })).toBe(
      'arguments must take at most 65536 bytes as JSON.',
    );
    expect(check({}, { a: new Array(100_000) })).toBe(
      'arguments must take at most 65536 bytes as JSON.',
    );
    expect(check({}, { a: JSON.parse(`${'['.repeat(31)}${']'.repeat(31)}`) })).toBeNull();
    expect(check({}, { a: JSON.parse(`${'['.repeat(32)}${']'.repeat(32)}`) })).toBe(
      'arguments must not be nested deeper than 32 levels.',
    );
    expect(check({}, { a: JSON.parse(`${'['.repeat(9000)}${']'.repeat(9000)}`) })).toBe(
      'arguments must not be nested deeper than 32 levels.',
    );
    expect(check({}, circular)).toBe('arguments must not be nested deeper than 32 levels.');
    expect(check({}, { a: 1n })).toMatch(/could not be checked/);
  });

  it('answers with null or a sentence, whatever the arguments are', () => {
    const schema = withProperties(
      {
        a: { type: 'string', format: 'date-time' },
        b: { anyOf: [{ type: 'array', uniqueItems: true }, { required: ['x'] }] },
      },
      { additionalProperties: { pattern: 'x+$' } },
    );
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withNullPrototype: true, withSparseArray: true }),
        (args) => {
          expect(check(schema, args) ?? 'arguments fit.').toMatch(/^arguments[ .].*\.$/s);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('compiles a schema once', () => {
    const schema = withA({});
    expect(compileParameters(schema)).toBe(compileParameters(schema));
    expect(compileParameters({ ...schema })).not.toBe(compileParameters(schema));
  });
});

describe('parameters of a tool, when it is saved', () => {
  it.each<[unknown, string, string]>([
    [null, '', 'must be a JSON Schema'],
    [[], '', 'must be a JSON Schema'],
    [true, '', 'must be a JSON Schema'],
    [{ type: 'string' }, '.type', 'must be "object"'],
    [{ type: ['object', 'null'] }, '.type', 'must be "object"'],
    [withA({ type: 'strin' }), '.properties.a.type', 'must be one of "array"'],
    [withA({ type: 5 }), '.properties.a.type', 'must be'],
    [{ required: 'a' }, '.required', 'must be a list'],
    [{ required: ['a', 'a'] }, '.required', 'twice'],
    [{ properties: [] }, '.properties', 'must be an object'],
    [withA({ items: [{}] }), '.properties.a.items', 'must be an object or true or false'],
    [withA({ minLength: -1 }), '.properties.a.minLength', '>= 0'],
    [withA({ enum: 'a' }), '.properties.a.enum', 'must be a list'],
    [withA({ $ref: 5 }), '.properties.a.$ref', 'must be a string'],
    [{ $schema: 'http://json-schema.org/draft-07/schema#' }, '.$schema', '2020-12'],
    [withA({ $ref: 'https://example.com/schema' }), '.properties.a.$ref', 'same schema'],
    [withA({ $ref: 'file:///etc/passwd' }), '.properties.a.$ref', 'same schema'],
    [withA({ $ref: 'other.json#/x' }), '.properties.a.$ref', 'same schema'],
    [withA({ $ref: '#anchor' }), '.properties.a.$ref', 'anchors are not read'],
    [withA({ $ref: '#/$defs/x' }), '.properties.a.$ref', 'there is no schema'],
    [withA({ $ref: '#/__proto__' }), '.properties.a.$ref', 'there is no schema'],
    [withA({ $ref: '#/%' }), '.properties.a.$ref', 'same schema'],
    [
      { ...withA({ $ref: '#/examples/0' }), examples: [{ type: 'string' }] },
      '.properties.a.$ref',
      'there is no schema',
    ],
    [withA({ $dynamicRef: '#x' }), '.properties.a.$dynamicRef', 'not supported'],
    [withA({ $recursiveRef: '#' }), '.properties.a.$recursiveRef', 'not supported'],
    [withA({ $id: 'https://example.com/a' }), '.properties.a.$id', 'not supported'],
    [{ $defs: { a: { $id: 'a' } } }, '.$defs.a.$id', 'not supported'],
    [{ dependencies: { a: ['b'] } }, '.dependencies', 'older JSON Schema'],
    [JSON.parse('{"properties":{"__proto__":{}}}'), '.properties.__proto__', 'name of a parameter'],
    [withA({ pattern: '(?=a)b' }), '.properties.a.pattern', '"(?=a)b"'],
    [withA({ pattern: '(?<!a)b' }), '.properties.a.pattern', 'RE2'],
    [withA({ pattern: '(a)\\1' }), '.properties.a.pattern', 'RE2'],
    [withA({ pattern: '(?<n>a)\\k<n>' }), '.properties.a.pattern', 'RE2'],
    [withA({ pattern: '[' }), '.properties.a.pattern', 'RE2'],
    [withA({ pattern: 'a'.repeat(1001) }), '.properties.a.pattern', 'longer than 1000'],
    [withA({ pattern: '(?:a{1000}){1000}' }), '.properties.a.pattern', 'too large'],
    [withA({ pattern: 'a{1000}'.repeat(30) }), '.properties.a.pattern', 'too large'],
    [{ patternProperties: { '(?!x)': {} } }, '.patternProperties.(?!x)', 'RE2'],
    [{ $defs: { unused: { items: { pattern: '(?=a)' } } } }, '.$defs.unused.items.pattern', 'RE2'],
    [withA({ $ref: '#' }), '', 'refers back to itself'],
    [withA({ $ref: '#/properties/a' }), '.properties.a', 'refers back to itself'],
    [
      {
        $ref: '#/$defs/tree',
        $defs: { tree: { properties: { children: { items: { $ref: '#/$defs/tree' } } } } },
      },
      '.$defs.tree',
      'refers back to itself',
    ],
    [
      { $defs: { a: { not: { $ref: '#/$defs/b' } }, b: { anyOf: [{ $ref: '#/$defs/a' }] } } },
      '.$defs.b',
      'refers back to itself',
    ],
  ])('refuses %j', (schema, param, reason) => {
    const found = refusal(schema);
    expect(found).toEqual({
      param: `parameters${param}`,
      message: expect.stringMatching(/^parameters.*\.$/s),
    });
    expect(found!.message).toContain(reason);
  });

  it('accepts parameters named like keywords, and ignores what stands in values', () => {
    expect(
      refusal(
        withProperties({
          $ref: { type: 'string' },
          $id: {},
          pattern: {},
          dependencies: {},
          properties: { properties: { $dynamicRef: {} } },
        }),
      ),
    ).toBeNull();
    expect(
      refusal({
        ...withA({ enum: [{ $ref: 'http://x.example/' }] }),
        examples: [{ pattern: '(?=' }],
        default: { $id: 'x' },
      }),
    ).toBeNull();
  });

  it('bounds size and depth', () => {
    expect(refusal(withA({ description: 'x'.repeat(33_000) }))).toMatchObject({
      param: 'parameters',
      message: expect.stringContaining('32768 bytes'),
    });
    expect(refusal(JSON.parse(`${'{"not":'.repeat(5000)}{}${'}'.repeat(5000)}`))).toMatchObject({
      message: expect.stringContaining('32 levels'),
    });
    expect(refusal(JSON.parse(`${'{"not":'.repeat(31)}{}${'}'.repeat(31)}`))).toBeNull();
  });
});

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
