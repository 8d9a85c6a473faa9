// Subscriptions to names that nobody has asked for before, whose name server is dead: look-ups
// stayed queued after their caller had given up, without a bound, and for minutes no other tenant
// could subscribe or be delivered to.
import { attack, inParallel, send, type Target } from './attack.ts';

interface Args extends Target {
  readonly key: string;
  /** Names are made under it. */
  readonly domain: string;
  readonly names: number;
  readonly connections: number;
}

await attack<Args>(async ({ url, key, domain, names, connections }, run) => {
  let next = 0;
  run.begun();
  await inParallel(connections, run, async () => {
    const n = next++;
    if (n >= names) return false;
    const { status } = await send(url, {
      path: '/api/hooks',
      token: key,
      json: {
        event: 'message.sent',
        target_url: `https://name-${n}.${domain}/events`,
        source: 'attack',
      },
    });
    run.tally(`subscriptions ${status}`);
    return true;
  });
});
