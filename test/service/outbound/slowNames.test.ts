// Names whose name server does not answer, beside names whose does.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { SLOW_LOOKUP_MS, keepSlowNamesApart } from '../../../service/src/outbound/slowNames.ts';
import { until } from './support.ts';

const AT_ONCE = 4;
const SLOW = ['slow0', 'slow1', 'slow2', 'slow3', 'slow4', 'slow5'];
const OUTCOMES = [...Array<string>(5).fill('found'), 'EAI_AGAIN'];

/** Look-ups of slow names end when the test says so. */
let held: Map<string, () => void>;
let resolve: (name: string) => Promise<string>;
const end = (name: string) => {
  held.get(name)?.();
  held.delete(name);
};

beforeEach(() => {
  held = new Map();
  const apart = keepSlowNamesApart(
    async (name) => {
      if (name.startsWith('slow')) await new Promise<void>((done) => held.set(name, done));
      if (name === 'slow5') throw Object.assign(new Error('no answer'), { code: 'EAI_AGAIN' });
      return ['93.184.215.14'];
    },
    { atOnce: AT_ONCE, slowAtOnce: 1 },
  );
  resolve = (name) => apart(name).then(() => 'found', ({ code }: NodeJS.ErrnoException) => code!);
});
afterEach(() => [...held.keys()].forEach(end));

/** All of them are slow for the first time; what else has to wait is not called slow for it. */
const firstTime = async () => {
  const ended = Promise.all(SLOW.map(resolve));
  const good = resolve('good');
  await until(() => held.size === AT_ONCE);
  await wait(SLOW_LOOKUP_MS + 50);
  SLOW.slice(0, AT_ONCE).forEach(end);
  expect(await good).toBe('found');
  await until(() => held.size === SLOW.length - AT_ONCE);
  await wait(SLOW_LOOKUP_MS + 50);
  SLOW.forEach(end);
  expect(await ended).toEqual(OUTCOMES);
};

describe('names that are slow to look up', () => {
  it('are looked up one at a time from then on, and hold up no other name', async () => {
    await firstTime();
    const again = Promise.all(SLOW.map(resolve));
    await until(() => held.size > 0);
    expect(await Promise.all(['good', 'new', 'other', 'more', 'yet another'].map(resolve))).toEqual(Array(5).fill('found'));
    for (const name of SLOW) {
      await until(() => held.has(name));
      expect([...held.keys()]).toEqual([name]);
      end(name);
    }
    expect(await again).toEqual(OUTCOMES);
  });

  it('are like any other once they were quick', async () => {
    await firstTime();
    const quick = SLOW.map(resolve);
    for (const [n, name] of SLOW.entries()) {
      await until(() => held.has(name));
      end(name);
      await quick[n];
    }
    const together = Promise.all(SLOW.slice(0, AT_ONCE).map(resolve));
    await until(() => held.size === AT_ONCE);
    SLOW.forEach(end);
    expect(await together).toEqual(Array(AT_ONCE).fill('found'));
  });
});
