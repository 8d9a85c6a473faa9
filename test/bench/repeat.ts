import { setTimeout as sleep } from 'node:timers/promises';

/** Runs it `count` times, up to `atOnce` at once. @returns what each came to, in the order of their numbers */
export async function repeat<T>(
  count: number,
  run: (n: number) => Promise<T>,
  atOnce = 16,
): Promise<T[]> {
  const results: T[] = [];
  let begun = 0;
  const runOnAndOn = async () => {
    while (begun < count) {
      const n = begun++;
      results[n] = await run(n);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, runOnAndOn));
  return results;
}

/** Runs it `count` times at an even pace, however long each takes. */
export async function repeatEvenly(
  count: number,
  aSecond: number,
  run: (n: number) => Promise<unknown>,
): Promise<void> {
  const startedAt = performance.now();
  const running: Promise<unknown>[] = [];
  for (let n = 0; n < count; n += 1) {
    await sleep(Math.max(0, startedAt + (n * 1000) / aSecond - performance.now()));
    const one = run(n);
    one.catch(() => {}); // thrown below
    running.push(one);
  }
  await Promise.all(running);
}
