import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../service/src/platform/json.ts';
import { compileParameters } from '../../../service/src/tools/definition/parametersSchema.ts';
import { check, refusal, withA, withProperties } from './parametersSupport.ts';

const CARD = {
  properties: { type: { const: 'card' }, number: { type: 'string' } },
  required: ['type', 'number'],
  additionalProperties: false,
};
const CASH = {
  properties: { type: { const: 'cash' }, amount: { type: 'number' } },
  required: ['type', 'amount'],
  additionalProperties: false,
};

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
      withA({ anyOf: [{ type: 'string', maxLength: 3 }, { type: 'null' }] }),
      { a: 'abcd' },
      'arguments.a must not have more than 3 characters, or must be null.',
    ],
    [
      withA({ anyOf: [{ minimum: 5 }, { if: true, then: { maximum: 2 } }] }),
      { a: 3 },
      'arguments.a must be >= 5, or must be <= 2.',
    ],
    [
      withA({ anyOf: [{ type: 'object', propertyNames: { maxLength: 1 } }, { type: 'null' }] }),
      { a: { ab: 1 } },
      'arguments.a must not have a field named "ab", or must be null.',
    ],
    [
      withA({ anyOf: [CARD, CASH] }),
      { a: { type: 'cash', amount: 'x' } },
      'arguments.a.amount must be a number.',
    ],
    [withA({ oneOf: [CARD, CASH] }), { a: { type: 'cash' } }, 'arguments.a.amount is missing.'],
    [withA({ oneOf: [CARD, CASH] }), { a: { type: 'card' } }, 'arguments.a.number is missing.'],
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
    [
      withA({ type: 'array', contains: { type: 'string' } }),
      { a: [1] },
      'arguments.a must contain at least 1 valid item.',
    ],
    [withA({ minProperties: 1 }), { a: {} }, 'arguments.a must not have fewer than 1 property.'],
    [
      withA({ enum: [`${'x'.repeat(78)}😀`] }),
      { a: 1 },
      `arguments.a must be one of "${'x'.repeat(78)}\ufffd….`,
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

  it('holds no half of an emoji when it cuts a long name or reference, and says that it cut it', () => {
    const long = `${'x'.repeat(275)}😀😀`;
    const named = refusal({ properties: { [`xx${long}`]: { $ref: '#/$defs/x' } } })!;
    expect([named.param.isWellFormed(), named.message.isWellFormed()]).toEqual([true, true]);
    const cut = refusal(withA({ $ref: `#/$defs/${'x'.repeat(71)}😀` }))!.message;
    expect(cut).toContain(`"#/$defs/${'x'.repeat(71)}\ufffd…"`);
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
