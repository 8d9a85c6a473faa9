import { describe, expect, it } from '@jest/globals';
import { KeyedMutex } from '../../../../service/src/platform/async/semaphore.ts';

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe('locks on several keys', () => {
  it('are granted for each key in the order of the requests, and leave nothing behind', async () => {
    const mutex = new KeyedMutex();
    const granted: string[] = [];
    const lock = (name: string, ...keys: string[]) => {
      const requested = mutex.lock(keys);
      void requested.ready.then(() => granted.push(name));
      return requested;
    };
    const a = lock('a', 'x', 'y');
    const b = lock('b', 'y', 'z');
    const c = lock('c', 'z');
    const d = lock('d', 'w');
    await tick();
    expect(granted).toEqual(['a', 'd']);
    a.release();
    a.release(); // does nothing
    await tick();
    expect(granted).toEqual(['a', 'd', 'b']);
    b.release();
    await tick();
    expect(granted).toEqual(['a', 'd', 'b', 'c']);
    c.release();
    d.release();
    await tick();
    expect(mutex.size).toBe(0);
  });

  it('may be released before they are granted, and those behind still wait for those in front', async () => {
    const mutex = new KeyedMutex();
    const first = mutex.lock(['x']);
    mutex.lock(['x']).release();
    let isGranted = false;
    const third = mutex.lock(['x']);
    void third.ready.then(() => (isGranted = true));
    await tick();
    expect(isGranted).toBe(false);
    first.release();
    await third.ready;
    third.release();
    await tick();
    expect(mutex.size).toBe(0);
  });
});
