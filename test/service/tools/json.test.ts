import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  brokenLimit,
  JsonError,
  mapStrings,
  parseJson,
  type Json,
} from '../../../service/src/platform/json.ts';
import { cpuMsOf } from '../../helpers/cpuTime.ts';

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const deepList = (levels: number) => {
  let list: Json = [];
  for (let level = 1; level < levels; level += 1) list = [list];
  return list;
};

describe('parseJson', () => {
  it('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) =>
        expect(parseJson(text, { maxDepth: 64 })).toEqual(JSON.parse(text)),
      ),
    );
  });

  it('counts brackets outside of strings only', () => {
    expect(parseJson(nested(3), { maxDepth: 3 })).toEqual([[[]]]);
    expect(parseJson('{"[[{{":["]]\\"[[[\\\\",{}]}', { maxDepth: 3 })).toEqual({
      '[[{{': [']]"[[[\\', {}],
    });
    expect(parseJson('[[],[],[[]]]', { maxDepth: 3 })).toEqual([[], [], [[]]]);
    expect(() => parseJson(nested(4), { maxDepth: 3 })).toThrow(
      new JsonError('The JSON is nested deeper than 3 levels.'),
    );
    expect(() => parseJson('{"a":{"b":{"c":{}}}}', { maxDepth: 3 })).toThrow(JsonError);
  });

  it('refuses a million levels in a moment', () => {
    const cpuMs = cpuMsOf(() => {
      expect(() => parseJson('['.repeat(1_000_000), { maxDepth: 32 })).toThrow(/deeper than 32/);
      expect(() => parseJson(`"${'\\"'.repeat(2_000_000)}`, { maxDepth: 32 })).toThrow(
        /not valid JSON/,
      );
    });
    expect(cpuMs).toBeLessThan(5000);
  });

  it.each(['{', '{"a":}', 'nope', '[1,]', '"open', '"\\', ']', "{'a':1}", 'NaN'])(
    'refuses %j without repeating it',
    (text) => {
      expect(() => parseJson(text, { maxDepth: 32 })).toThrow(
        new JsonError('The text is not valid JSON.'),
      );
    },
  );

  it.each(['', ' \n', '\ufeff'])('says of %j that it is empty', (text) => {
    expect(() => parseJson(text, { maxDepth: 32 })).toThrow(/empty/);
  });

  it('skips a byte order mark, and keeps __proto__ a plain name', () => {
    expect(parseJson('\ufeff{"a":1}', { maxDepth: 1 })).toEqual({ a: 1 });
    expect(Object.keys(parseJson('{"__proto__":{"x":1}}', { maxDepth: 2 }) as object)).toEqual([
      '__proto__',
    ]);
  });
});

describe('brokenLimit', () => {
  const limits = { maxBytes: 20, maxDepth: 3 };
  it.each<[unknown, string | null]>([
    [{ a: [{}] }, null],
    [{ a: [[{}]] }, 'maxDepth'],
    ['x'.repeat(18), null],
    ['x'.repeat(19), 'maxBytes'],
    ['é'.repeat(9), null],
    ['é'.repeat(10), 'maxBytes'],
    [new Array(21), 'maxBytes'],
    [undefined, null],
  ])('%j: %s', (value, broken) => expect(brokenLimit(value, limits)).toBe(broken));

  it('ends for values that contain themselves, or the same value many times', () => {
    const circular: unknown[] = [];
    circular.push(circular);
    let doubled: unknown = 'x';
    for (let level = 0; level < 30; level += 1) doubled = [doubled, doubled];
    expect(brokenLimit(circular, { maxBytes: 1000, maxDepth: 32 })).toBe('maxDepth');
    expect(brokenLimit(doubled, { maxBytes: 1000, maxDepth: 32 })).toBe('maxBytes');
  });
});

describe('mapStrings', () => {
  it('changes strings and keys, and nothing else', () => {
    expect(
      mapStrings({ a: ['b', 1, null, true, { c: 'd' }], e: {} }, (text) => `<${text}>`),
    ).toEqual({ '<a>': ['<b>', 1, null, true, { '<c>': '<d>' }], '<e>': {} });
    expect(mapStrings('a', (text) => text + text)).toBe('aa');
    expect(mapStrings(5, () => 'x')).toBe(5);
  });

  it('copies any JSON as it is when nothing changes, in its order', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) =>
        expect(JSON.stringify(mapStrings(value as Json, (text) => text))).toBe(
          JSON.stringify(value),
        ),
      ),
    );
  });

  it('keeps __proto__ a plain name', () => {
    const copy = mapStrings(JSON.parse('{"__proto__":{"x":"y"},"a":1}') as Json, (text) =>
      text === 'a' ? '__proto__' : text,
    ) as Record<string, Json>;
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(Object.entries(copy)).toEqual([['__proto__', 1]]);
  });

  it('copies lists 100,000 levels deep', () => {
    expect(
      brokenLimit(
        mapStrings(deepList(100_000), (text) => text),
        { maxBytes: 1e6, maxDepth: 99_999 },
      ),
    ).toBe('maxDepth');
  });
});
