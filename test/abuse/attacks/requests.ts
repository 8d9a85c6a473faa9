// Sends a list of requests again and again, as many requests as the test asks for.
import { attack, repeat, send, type AttackRequest, type Target } from './attack.ts';

interface Args extends Target {
  readonly count: number;
  readonly connections: number;
  /** Sent in turn. `{n}` in a request stands for its number. */
  readonly requests: readonly AttackRequest[];
}

await attack<Args>(async ({ url, count, connections, requests }, run) => {
  run.begun();
  await repeat(count, connections, run, async (n) => {
    const request = JSON.stringify(requests[n % requests.length]).replaceAll('{n}', String(n));
    const { status } = await send(url, JSON.parse(request) as AttackRequest);
    run.tally(`answers ${status}`);
  });
});
