// API calls with the many keys of one workspace: the rate limit counted by key, and 300 keys had
// 300 times as much.
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
