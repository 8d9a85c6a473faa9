// Counts under twice as many long keys as it remembers, and prints what is left of them in the heap.
import { MAX_KEYS } from '../../../../service/src/platform/limits/limiter.ts';
import { MemoryLimiter } from '../../../../service/src/platform/limits/memoryLimiter.ts';

const heap = (): number => {
  globalThis.gc!();
  return process.memoryUsage().heapUsed;
};

const limiter = new MemoryLimiter({ name: 'test', most: 10, seconds: 900 });
await limiter.count('first');
const before = heap();
for (let n = 0; n < 2 * MAX_KEYS; n++) await limiter.count(`${n}${'x'.repeat(240)}@example.com`);
console.log(JSON.stringify({ bytes: heap() - before, keys: limiter.size }));
