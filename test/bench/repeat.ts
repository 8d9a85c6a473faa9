import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Calls `run` `count` times, up to `atOnce` at once.
 * @returns the results, in the order of their numbers
 */
export async function repeat<T>(
  count: number,
  run: (n: number) => Promise<T>,
  atOnce = 16,
): Promise<T[]> {
  const results: T[] = [];
  let begun = 0;
  const worker = async () => {
    while (begun < count) {
      const n = begun++;
      results[n] = await run(n);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

/** Calls `run` `count` times at an even pace, however long each call takes. */
export async function repeatEvenly(
  count: number,
  aSecond: number,
  run: (n: number) => Promise<unknown>,
): Promise<void> {
  const startedAt = performance.now();
  const running: Promise<unknown>[] = [];
  for (let n = 0; n < count; n += 1) {
    await sleep(Math.max(0, startedAt + (n * 1000) / aSecond - performance.now()));
    const call = run(n);
    call.catch(() => {}); // thrown below
    running.push(call);
  }
  await Promise.all(running);
}
