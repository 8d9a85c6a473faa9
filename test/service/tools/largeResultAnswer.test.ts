// The API answers with a large result without parsing it as a whole, and masks it piece by piece.
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { maskJson } from '../../../service/src/platform/masking.ts';
import { maskJsonText } from '../../../service/src/tools/calls/maskedResult.ts';
import type { ToolCall } from '../../../service/src/tools/calls/toolCall.ts';
import { toolCallJson } from '../../../service/src/tools/views.ts';
import { WrittenJson, writeJson } from '../../../service/src/platform/http/writtenJson.ts';
import { loopShare } from '../../../service/src/platform/limits/loopShare.ts';
import { contact } from './contact.ts';

const manyKeys = (extra = {}) =>
  JSON.stringify({
    ...Object.fromEntries(Array.from({ length: 12_000 }, (_, index) => [`key ${index}`, index])),
    ...extra,
  });

const callWith = (resultJson: string) =>
  ({
    id: 'call_1',
    workspaceId: 'w',
    tool: 'track',
    arguments: {},
    conversationId: null,
    status: 'succeeded',
    resultJson,
    error: null,
    decision: null,
  }) as unknown as ToolCall;

afterEach(() => void jest.restoreAllMocks());

/**
 * Runs `work` on a result. Other texts that are parsed meanwhile, such as jest's own messages, do
 * not count.
 * @returns its answer, and the length of the longest part of the result that was parsed as JSON
 */
async function longestParsed<T>(
  result: string,
  work: () => Promise<T>,
): Promise<{ longest: number; answer: T }> {
  const parse = jest.spyOn(JSON, 'parse');
  const answer = await work();
  const parsed = parse.mock.calls.map(([text]) => String(text));
  const longest = Math.max(
    0,
    ...parsed.filter((text) => result.includes(text)).map(({ length }) => length),
  );
  parse.mockRestore();
  return { longest, answer };
}

describe('a large result', () => {
  it('of a test call is answered as it is stored, without being parsed', async () => {
    const json = manyKeys({ 'a "key"': [null, 'ñ', { 1: 2 }] });
    const { longest, answer } = await longestParsed(json, async () =>
      writeJson(await toolCallJson({ call: callWith(json), contact: null })),
    );
    expect(longest).toBe(0);
    expect(answer.includes(`"result":${json},`)).toBe(true);
    expect({ ...JSON.parse(answer), result: null }).toMatchObject({
      tool_call_id: 'call_1',
      conversation_id: 'conv_test',
      error: null,
    });
  });

  it('with a contact is masked piece by piece, and other work runs in between', async () => {
    const json = manyKeys({
      'Maria@Example.com': ['+54 9 11 5555-1234', 5_491_155_551_234, '11 5555\t1234', 'order 77'],
    });
    const ended: string[] = [];
    const { longest, answer } = await longestParsed(json, async () => {
      const masking = toolCallJson({ call: callWith(json), contact }).then((body) => {
        ended.push('masking');
        return writeJson(body);
      });
      await Promise.all([masking, loopShare.run('other', () => ended.push('other'))]);
      return masking;
    });
    expect(ended).toEqual(['other', 'masking']);
    expect(longest).toBeLessThan(100);
    expect(JSON.parse(answer).result).toEqual(maskJson(JSON.parse(json), contact));
    expect(answer.slice(-300)).toContain(
      '"m••••@e••••••.com":["+54•••••••••34","+54•••••••••34","+54•••••••••34","order 77"]}',
    );
  });

  it('is masked in pieces of 64 Ki characters', async () => {
    let pieces = 0;
    const json = manyKeys();
    await maskJsonText(json, contact, async (work) => {
      pieces += 1;
      return work();
    });
    expect(pieces).toBe(Math.ceil(json.length / (64 * 1024)));
  });
});

describe('masked JSON text', () => {
  const detail = fc.constantFrom(
    'maria@example.com',
    '+54 9 11 5555 1234',
    '11-5555-1234',
    '5491155551234',
    '"\\',
    '\u0001',
    '\ud83d\ude00',
  );
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 8 }),
    detail,
    fc.tuple(fc.string({ maxLength: 3 }), detail).map((parts) => parts.join(' ')),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(5_491_155_551_234, -1_155_551_234, 1e21, 0, true, false, null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(text, tie('value'), { maxKeys: 4 }),
    ),
  }));

  it('is the text of the masked value', async () => {
    await fc.assert(
      fc.asyncProperty(value, async (generated) => {
        const json = JSON.stringify(generated);
        const masked = JSON.parse(await maskJsonText(json, contact, async (work) => work()));
        expect(masked).toEqual(JSON.parse(JSON.stringify(maskJson(JSON.parse(json), contact))));
      }),
      { numRuns: 300 },
    );
  });
});

describe('an answer with written JSON', () => {
  it('is written as it would be from the value', () => {
    const value = { b: [1, { a: 'é"' }], 1: null };
    const plain = { first: 1, left: undefined, result: value, last: 'x', '"': true };
    expect(writeJson({ ...plain, result: new WrittenJson(JSON.stringify(value)) })).toBe(
      JSON.stringify(plain),
    );
    expect(writeJson({ inside: [new WrittenJson('{"a":1}')] })).toBe('{"inside":[{"a":1}]}');
    expect(writeJson([1])).toBe('[1]');
  });
});
