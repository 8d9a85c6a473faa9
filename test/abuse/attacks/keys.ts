// API calls with many keys of one workspace. While the rate limit was counted by key alone, 300 keys
// were allowed 300 times as many calls.
import { attack, inParallel, send, type Target } from './attack.ts';

interface Args extends Target {
  readonly keys: readonly string[];
  readonly calls: number;
  readonly connections: number;
}

await attack<Args>(async ({ url, keys, calls, connections }, run) => {
  let next = 0;
  run.begun();
  await inParallel(connections, run, async () => {
    const n = next++;
    if (n >= calls) return false;
    const { status } = await send(url, {
      method: 'GET',
      path: '/api/hooks/events',
      token: keys[n % keys.length]!,
    });
    run.tally(`calls ${status}`);
    return true;
  });
});
