// Counts under 200,000 long keys, and prints what is left of them in the heap.
import { MemoryLimiter } from '../../../../service/src/platform/limits/memoryLimiter.ts';

const heap = (): number => {
  globalThis.gc!();
  return process.memoryUsage().heapUsed;
};

const limiter = new MemoryLimiter({ name: 'test', most: 10, seconds: 900 });
await limiter.count('first');
const before = heap();
for (let n = 0; n < 200_000; n++) await limiter.count(`${n}${'x'.repeat(240)}@example.com`);
console.log(JSON.stringify({ bytes: heap() - before, keys: limiter.size }));
