// Requests of one kind, as many as are asked for.
import { attack, times, send, type Sending, type Target } from './attack.ts';

interface Args extends Target {
  readonly count: number;
  readonly connections: number;
  /** Sent by turns. `{n}` in one of them stands for its number. */
  readonly requests: readonly Sending[];
}

await attack<Args>(async ({ url, count, connections, requests }, run) => {
  run.begun();
  await times(count, connections, run, async (n) => {
    const request = JSON.stringify(requests[n % requests.length]).replaceAll('{n}', String(n));
    const { status } = await send(url, JSON.parse(request) as Sending);
    run.tally(`answers ${status}`);
  });
});
