import { describe, expect, it, jest } from '@jest/globals';
import { EventEmitter } from 'node:events';
import type * as callMemoryFile from '../../nodes/ConversationService/shared/callMemory';
import { builtFile } from './helpers/builtFile.ts';

const { CallMemory } = builtFile<typeof callMemoryFile>('shared/callMemory');
type CallMemory = callMemoryFile.CallMemory;

/** What the memory sees of an HTTP response, and what a caller would have got. */
class FakeResponse extends EventEmitter {
  statusCode = 200;
  readonly headers = new Map<string, unknown>();
  readonly written: Buffer[] = [];
  isEnded = false;
  getHeader(name: string) {
    return this.headers.get(name.toLowerCase());
  }
  setHeader(name: string, value: string) {
    this.headers.set(name.toLowerCase(), value);
  }
  write(chunk: string | Buffer) {
    this.written.push(Buffer.from(chunk));
    return true;
  }
  end(chunk?: string | Buffer | (() => void)) {
    if (this.isEnded) return this;
    this.isEnded = true;
    if (typeof chunk === 'string' || Buffer.isBuffer(chunk)) this.written.push(Buffer.from(chunk));
    this.emit('close');
    return this;
  }
  json(status: number, body: unknown) {
    this.statusCode = status;
    this.setHeader('Content-Type', 'application/json; charset=utf-8');
    this.end(JSON.stringify(body));
  }
  get got() {
    return {
      status: this.statusCode,
      type: this.getHeader('content-type'),
      text: Buffer.concat(this.written).toString(),
    };
  }
}

let nowMs = 0;
const memoryOf = (limits: Partial<callMemoryFile.MemoryLimits> = {}) =>
  new CallMemory(limits, () => nowMs);
/** A call that comes for the first time, and is not answered yet. */
function begin(memory: CallMemory, key = 'call_1') {
  const response = new FakeResponse();
  memory.follow(key, response);
  return response;
}
/** A call that comes for the first time, answered at once. */
function take(memory: CallMemory, key: string, body: unknown = {}, status = 200) {
  const response = begin(memory, key);
  response.json(status, body);
  return response;
}
const repeat = (memory: CallMemory, key: string) => {
  const response = new FakeResponse();
  return { isRepeat: memory.repeat(key, response), response };
};

const isRepeat = (memory: CallMemory, key: string) => repeat(memory, key).isRepeat;

describe('The memory of calls', () => {
  const keys = ['a', 'b', 'c'];

  it('does not know a call that never came', () => {
    const unknown = repeat(memoryOf(), 'call_1');
    expect([unknown.isRepeat, unknown.response.isEnded]).toEqual([false, false]);
  });

  it.each([200, 422, 500])(
    'gives a repeat the first answer: status %s, content type and body',
    (status) => {
      const memory = memoryOf();
      const first = take(memory, 'call_1', { text: 'Grüße 🎉' }, status);
      const again = repeat(memory, 'call_1');
      expect(again.isRepeat).toBe(true);
      expect(again.response.got).toEqual(first.got);
      expect(first.got).toEqual({
        status,
        type: 'application/json; charset=utf-8',
        text: '{"text":"Grüße 🎉"}',
      });
    },
  );

  it('still knows a running call when the system’s time is set forward', () => {
    const now = Date.now();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(now);
    try {
      const memory = new CallMemory();
      begin(memory);
      clock.mockReturnValue(now + 2 * 60 * 60 * 1000);
      expect(isRepeat(memory, 'call_1')).toBe(true);
    } finally {
      clock.mockRestore();
    }
  });

  it('lets every repeat wait for a call that is still running', () => {
    const memory = memoryOf();
    const first = begin(memory);
    const repeats = [repeat(memory, 'call_1'), repeat(memory, 'call_1')];
    for (const each of repeats)
      expect([each.isRepeat, each.response.isEnded]).toEqual([true, false]);
    first.json(200, { found: 1 });
    for (const { response } of repeats) expect(response.got).toEqual(first.got);
  });

  it('remembers an answer that was written after its caller had hung up', () => {
    const memory = memoryOf();
    const first = begin(memory);
    first.emit('close');
    const waiting = repeat(memory, 'call_1');
    expect(waiting.response.isEnded).toBe(false);
    first.json(200, { found: 1 });
    expect(waiting.response.got.text).toBe('{"found":1}');
  });

  it('forgets a repeat that hangs up while it waits', () => {
    const memory = memoryOf();
    const first = begin(memory);
    const { response } = repeat(memory, 'call_1');
    response.emit('close');
    expect(memory.size).toMatchObject({ running: 1, waiting: 0 });
    first.json(200, {});
    expect(response.isEnded).toBe(false);
  });

  it('takes an answer that is written in pieces, in any encoding, and ended twice', () => {
    const memory = memoryOf();
    const first = begin(memory);
    first.setHeader('Content-Type', 'application/json');
    first.write('{"a":');
    (first.write as (chunk: string, encoding: string) => void)(
      Buffer.from('1').toString('hex'),
      'hex',
    );
    first.write(Buffer.from('}'));
    first.end(() => {});
    first.end('more');
    expect(repeat(memory, 'call_1').response.got).toEqual({
      status: 200,
      type: 'application/json',
      text: '{"a":1}',
    });
  });

  it('gives an empty answer as an empty one', () => {
    const memory = memoryOf();
    const first = begin(memory);
    first.end();
    expect(repeat(memory, 'call_1').response.got).toEqual({
      status: 200,
      type: undefined,
      text: '',
    });
  });

  it('tells a repeat only that an answer was too large', () => {
    const memory = memoryOf({ answerBytes: 10 });
    take(memory, 'call_1', 'x'.repeat(9));
    expect(repeat(memory, 'call_1').response.got).toMatchObject({
      status: 422,
      text: expect.stringContaining('larger than'),
    });
    take(memory, 'call_2', 'x'.repeat(8));
    expect(repeat(memory, 'call_2').response.got.status).toBe(200);
  });

  it('keeps the newest answers, up to a number', () => {
    const memory = memoryOf({ count: 2 });
    for (const key of keys) take(memory, key);
    expect(keys.map((key) => isRepeat(memory, key))).toEqual([false, true, true]);
    expect(memory.size).toEqual({ running: 0, waiting: 0, answers: 2, bytes: 4 });
  });

  it('keeps the newest answers, up to a number of bytes', () => {
    const memory = memoryOf({ bytes: 25 });
    for (const key of keys) take(memory, key, 'x'.repeat(8));
    expect(keys.map((key) => isRepeat(memory, key))).toEqual([false, true, true]);
    expect(memory.size.bytes).toBe(20);
  });

  it('never forgets a running call to make room', () => {
    const memory = memoryOf({ count: 1, bytes: 1 });
    begin(memory, 'running');
    for (const key of keys) take(memory, key);
    expect(isRepeat(memory, 'running')).toBe(true);
  });

  it('forgets by age: an answer from when it was given, an unanswered call from when it came', () => {
    const memory = memoryOf({ ageMs: 1000 });
    nowMs = 0;
    const late = begin(memory, 'late');
    begin(memory, 'never');
    nowMs = 900;
    late.json(200, {});
    nowMs = 1001;
    expect(isRepeat(memory, 'late')).toBe(true);
    expect(isRepeat(memory, 'never')).toBe(false);
    nowMs = 1901;
    expect(isRepeat(memory, 'late')).toBe(false);
    expect(memory.size).toEqual({ running: 0, waiting: 0, answers: 0, bytes: 0 });
  });

  it('counts an answer once when a forgotten call came again before it was answered', () => {
    const memory = memoryOf({ ageMs: 1000 });
    nowMs = 0;
    const slow = begin(memory);
    nowMs = 1001;
    expect(isRepeat(memory, 'call_1')).toBe(false);
    const again = begin(memory);
    slow.json(200, {});
    expect(memory.size).toMatchObject({ running: 1, answers: 1, bytes: 2 });
    again.json(200, {});
    expect(memory.size).toEqual({ running: 0, waiting: 0, answers: 1, bytes: 2 });
  });

  it('keeps 10,000 answers, 32 MiB and an hour unless told otherwise', () => {
    nowMs = 0;
    const memory = new CallMemory({}, () => nowMs);
    for (let i = 0; i < 10_001; i += 1) take(memory, `call_${i}`);
    expect(memory.size.answers).toBe(10_000);
    for (let i = 0; i < 33; i += 1) take(memory, `large_${i}`, 'x'.repeat(1024 * 1024 - 2));
    expect(memory.size).toMatchObject({ answers: 32, bytes: 32 * 1024 * 1024 });
    nowMs = 3_600_000;
    expect(isRepeat(memory, 'large_32')).toBe(true);
    nowMs += 1;
    expect(isRepeat(memory, 'large_32')).toBe(false);
  });
});
