import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Json } from '../../../service/src/platform/json.ts';
import { selectFields } from '../../../service/src/tools/calls/readAnswer.ts';

const ANSWER: Json = {
  id: 7,
  total: { net: 1, gross: 2 },
  items: [{ name: 'a', price: 1 }, { name: 'b', tags: ['x'] }, 5],
  empty: null,
};

describe('the fields of an answer that the agent sees', () => {
  it.each<[string[], Json]>([
    [['id'], { id: 7 }],
    [['total'], { total: { net: 1, gross: 2 } }],
    [['total.net', 'id'], { total: { net: 1 }, id: 7 }],
    [['total.net', 'total'], { total: { net: 1, gross: 2 } }],
    [['items.name'], { items: [{ name: 'a' }, { name: 'b' }] }],
    [['items.tags', 'items.price'], { items: [{ price: 1 }, { tags: ['x'] }] }],
    [['items'], { items: [{ name: 'a', price: 1 }, { name: 'b', tags: ['x'] }, 5] }],
    [['empty', 'no.such', 'id.x', 'empty.x'], { empty: null }],
    [['total.vat'], { total: {} }],
    [['constructor', '__proto__', 'items.length', 'toString.name'], { items: [{}, {}] }],
  ])('%j', (fields, expected) => expect(selectFields(ANSWER, fields)).toEqual(expected));

  it('are the whole answer when none are named', () => {
    expect(selectFields(ANSWER, undefined)).toBe(ANSWER);
    expect(selectFields(ANSWER, [])).toBe(ANSWER);
  });

  it('are found in a list at the root, and in lists of lists', () => {
    expect(selectFields([{ a: 1, b: 2 }, [{ a: 3 }], 4], ['a'])).toEqual([{ a: 1 }, [{ a: 3 }]]);
  });

  it.each(['text', 5, null])('are null of %j, which has no fields', (answer) =>
    expect(selectFields(answer, ['a'])).toBeNull(),
  );

  it('keep __proto__ a plain name', () => {
    const kept = selectFields(JSON.parse('{"__proto__":{"x":1},"a":1}') as Json, ['__proto__.x']);
    expect(JSON.stringify(kept)).toBe('{"__proto__":{"x":1}}');
    expect(Object.getPrototypeOf(kept)).toBe(Object.prototype);
  });

  it('can be selected from lists 5,000 levels deep', () => {
    expect(() =>
      selectFields(JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`) as Json, ['a']),
    ).not.toThrow();
  });

  it('stay the same when they are selected again', () => {
    const path = fc
      .array(fc.constantFrom('a', 'b', '__proto__', 'length'), { minLength: 1, maxLength: 3 })
      .map((names) => names.join('.'));
    const json = fc.letrec<{ node: Json }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.integer() as fc.Arbitrary<Json>,
        fc.array(tie('node'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('node')),
      ),
    })).node;
    fc.assert(
      fc.property(json, fc.array(path, { minLength: 1 }), (answer, fields) => {
        const once = selectFields(answer, fields);
        expect(selectFields(once, fields)).toEqual(once);
      }),
    );
  });
});
