// Large answers of tools are read in a thread beside the event loop, each workspace in turn.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { unwatchedBounds } from '../../../service/src/platform/limits/bounds.ts';
import {
  AnswerReader,
  MAX_SMALL_ANSWER_BYTES,
} from '../../../service/src/tools/calls/answerReader.ts';
import { readAttempt, type AnswerTask } from '../../../service/src/tools/calls/readAnswer.ts';

const FIVE_MEBIBYTES = 5 * 1024 * 1024;
const SECRET = 'a-secret-of-the-tool';
const neverAborted = new AbortController().signal;

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
    body: Buffer.from(text),
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

  it('are read as small ones are, without the tool’s secrets, while the event loop goes on', async () => {
    const text = list(`{"name":"x","key":"${SECRET}"}`, 1024 * 1024);
    let loopTurns = 0;
    let isReading = true;
    const countTurns = () => {
      loopTurns += 1;
      if (isReading) setImmediate(countTurns);
    };
    const expected = readAttempt(task(text));
    countTurns();
    const result = await reader.read('a', task(text), neverAborted);
    isReading = false;
    expect(result).toEqual(expected);
    expect(result).toMatchObject({
      type: 'success',
      resultJson: expect.stringMatching(/^\[\{"name":"x","key":"\[secret\]"\},/),
    });
    expect(loopTurns).toBeGreaterThan(100);
    // Cut to a small answer, it is no JSON any more.
    expect(
      await reader.read('a', task(text.slice(0, MAX_SMALL_ANSWER_BYTES)), neverAborted),
    ).toMatchObject({
      type: 'failure',
      error: { type: 'invalid_response' },
    });
  }, 60_000);

  it.each(['{}', '[]', '1', '""', '{"k":1}'])(
    'of more than 500,000 values are not read: a list of %s',
    async (item) => {
      const text = list(item, item === '{"k":1}' ? FIVE_MEBIBYTES : FIVE_MEBIBYTES / 2);
      const result = await reader.read('a', task(text), neverAborted);
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

  it('of one workspace take turns with those of others', async () => {
    const ended: string[] = [];
    const read = async (workspaceId: string) => {
      await reader.read(workspaceId, task(list('1.5', 512 * 1024)), neverAborted);
      ended.push(workspaceId);
    };
    await Promise.all([read('a'), read('a'), read('a'), read('a'), read('b')]);
    expect(ended.indexOf('b')).toBeLessThanOrEqual(2);
    expect(ended).toHaveLength(5);
  });

  it('are not read when nobody waits for them any more', async () => {
    const caller = new AbortController();
    const large = task(list('1.5', 512 * 1024));
    let isRead = false;
    const unread: AnswerTask = {
      ...large,
      get address() {
        isRead = true;
        return large.address;
      },
    };
    const first = reader.read('a', large, neverAborted);
    const second = reader.read('a', unread, caller.signal);
    const third = reader.read('a', large, neverAborted);
    caller.abort(new Error('given up'));
    await expect(second).rejects.toThrow('given up');
    for (const result of await Promise.all([first, third])) expect(result.type).toBe('success');
    expect(isRead).toBe(false);
  });

  it('are given up when their caller goes while they are read', async () => {
    const caller = new AbortController();
    const reading = reader.read('a', task(list('1.5', 512 * 1024)), caller.signal);
    caller.abort(new Error('given up'));
    await expect(reading).rejects.toThrow('given up');
  });
});
