// Counts in memory, for at most `maxKeys` keys.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { MAX_KEYS, type Limit } from '../../../../service/src/platform/limits/limiter.ts';
import { MemoryLimiter } from '../../../../service/src/platform/limits/memoryLimiter.ts';

const child = fileURLToPath(new URL('./memoryLimiter.child.ts', import.meta.url));

describe('a limiter in memory', () => {
  let nowMs: number;
  beforeEach(() => {
    nowMs = 0;
  });
  const open = (limit: Partial<Limit> = {}) =>
    new MemoryLimiter(
      { name: 'test', most: 2, seconds: 60, ...limit },
      { maxKeys: 3, now: () => nowMs },
    );

  it('refuses what is over the limit until the span has ended, for each key separately', async () => {
    const limiter = open();
    expect([await limiter.count('a'), await limiter.count('a')]).toEqual([null, null]);
    nowMs = 20_000;
    expect([await limiter.count('a'), await limiter.count('b')]).toEqual([40_000, null]);
    nowMs = 60_000;
    expect(await limiter.count('a')).toBeNull();
  });

  it('counts as many as it is told', async () => {
    const limiter = open({ most: 1_000 });
    expect([await limiter.count('a', 600), await limiter.count('a', 400)]).toEqual([null, null]);
    expect(await limiter.count('a', 1)).toBe(60_000);
  });

  it('takes a count back, clears a key, and never counts below zero', async () => {
    const limiter = open({ forgives: true });
    await limiter.takeBack('a');
    for (const many of [1, 2, 3]) expect(await limiter.add('a')).toBe(many);
    await limiter.takeBack('a');
    expect(await limiter.count('a')).toBe(60_000);
    await limiter.clear('a');
    await limiter.takeBack('a');
    expect(await limiter.add('a')).toBe(1);
  });

  it('forgets first what has ended, then what was used longest ago', async () => {
    const limiter = open({ most: 1 });
    await limiter.count('old');
    nowMs = 50_000;
    for (const key of ['a', 'b']) await limiter.count(key);
    nowMs = 60_000;
    await limiter.count('c'); // in the place of `old`
    expect(await limiter.count('a')).not.toBeNull();
    await limiter.count('d'); // in the place of `b`: `a` was just used
    expect(limiter.size).toBe(3);
    expect(await limiter.count('a')).not.toBeNull();
    expect(await limiter.count('c')).not.toBeNull();
    expect(await limiter.count('b')).toBeNull();
  });

  it('takes few bytes a key when it is full, however long the keys are', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', child]);
    const { keys, bytes } = JSON.parse(stdout) as { keys: number; bytes: number };
    expect(keys).toBe(MAX_KEYS);
    expect(bytes / keys).toBeLessThan(400); // each refused sign-in once left 1,300
  });
});
