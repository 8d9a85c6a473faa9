// Large answers of tools are read beside everything else, and cost what their length costs.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { unwatchedBounds } from '../../../service/src/platform/limits/bounds.ts';
import {
  AnswerReader,
  MAX_SMALL_ANSWER_BYTES,
} from '../../../service/src/tools/calls/answerReader.ts';
import { readAttempt, type AnswerTask } from '../../../service/src/tools/calls/readAnswer.ts';

const FIVE_MEBIBYTES = 5 * 1024 * 1024;
const SECRET = 'a-secret-of-the-tool';
const never = new AbortController().signal;

const list = (item: string, bytes = FIVE_MEBIBYTES) =>
  `[${`${item},`.repeat(Math.floor(bytes / (item.length + 1)) - 1)}${item}]`;

const task = (text: string): AnswerTask => ({
  address: {
    kind: 'HTTP',
    template: { method: 'GET', url: 'https://api.example.com' } as never,
    secrets: { key: SECRET },
  },
  response: {
    status: 200,
    durationMs: 1,
    headers: { 'content-type': 'application/json' },
    body: Buffer.concat([Buffer.from(text)]),
  },
});

describe('large answers of tools', () => {
  const faults: unknown[] = [];
  let reader: AnswerReader;
  beforeAll(() => {
    reader = new AnswerReader(unwatchedBounds, {
      error: (fault: unknown) => void faults.push(fault),
    });
  });
  afterEach(() => expect(faults.splice(0)).toEqual([]));
  afterAll(() => reader.close());

  it('are read as small ones are, without the tool’s secrets, and the event loop goes on', async () => {
    const text = list(`{"name":"x","key":"${SECRET}"}`, 1024 * 1024);
    let turns = 0;
    let isReading = true;
    const count = () => {
      turns += 1;
      if (isReading) setImmediate(count);
    };
    const expected = readAttempt(task(text));
    count();
    const result = await reader.read('a', task(text), never);
    isReading = false;
    expect(result).toEqual(expected);
    expect(result).toMatchObject({
      type: 'success',
      resultJson: expect.stringMatching(/^\[\{"name":"x","key":"\[secret\]"\},/),
    });
    expect(turns).toBeGreaterThan(100);
    expect(
      await reader.read('a', task(text.slice(0, MAX_SMALL_ANSWER_BYTES)), never),
    ).toMatchObject({
      type: 'failure',
      error: { type: 'invalid_response' },
    });
  }, 60_000);

  it.each(['{}', '[]', '1', '""', '{"k":1}'])(
    'of half a million and more %s are not read',
    async (item) => {
      const text = list(item, item === '{"k":1}' ? FIVE_MEBIBYTES : FIVE_MEBIBYTES / 2);
      const result = await reader.read('a', task(text), never);
      expect(result).toMatchObject({
        type: 'failure',
        retry: 'never',
        error: {
          type: 'invalid_response',
          message: expect.stringMatching(/more than 500,000 values/),
        },
      });
    },
  );

  it('of one workspace wait in turn with those of others', async () => {
    const ended: string[] = [];
    const read = async (workspaceId: string) => {
      await reader.read(workspaceId, task(list('1.5', 512 * 1024)), never);
      ended.push(workspaceId);
    };
    await Promise.all([read('a'), read('a'), read('a'), read('a'), read('b')]);
    expect(ended.indexOf('b')).toBeLessThanOrEqual(2);
    expect(ended).toHaveLength(5);
  });

  it('that nobody waits for any more are not read', async () => {
    const giving = new AbortController();
    const large = task(list('1.5', 512 * 1024));
    let isRead = false;
    const unread: AnswerTask = {
      ...large,
      get address() {
        isRead = true;
        return large.address;
      },
    };
    const first = reader.read('a', large, never);
    const second = reader.read('a', unread, giving.signal);
    const third = reader.read('a', large, never);
    giving.abort(new Error('given up'));
    await expect(second).rejects.toThrow('given up');
    for (const result of await Promise.all([first, third])) expect(result.type).toBe('success');
    expect(isRead).toBe(false);
  });

  it('that nobody waits for any more while they are read are not waited for', async () => {
    const giving = new AbortController();
    const reading = reader.read('a', task(list('1.5', 512 * 1024)), giving.signal);
    giving.abort(new Error('given up'));
    await expect(reading).rejects.toThrow('given up');
  });
});
