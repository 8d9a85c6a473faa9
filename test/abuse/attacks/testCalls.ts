// Test calls of tools, as many as are asked for. The large results of one workspace cut those of
// another, since all workspaces shared 48 MiB, of which the newest were kept whole.
import { attack, inParallel, send, type Target } from './attack.ts';

interface Args extends Target {
  readonly key: string;
  readonly tools: readonly string[];
  readonly calls: number;
  readonly connections: number;
}

await attack<Args>(async ({ url, key, tools, calls, connections }, run) => {
  let next = 0;
  run.begun();
  await inParallel(connections, run, async () => {
    const n = next++;
    if (n >= calls) return false;
    const { status } = await send(url, {
      path: `/api/tools/${tools[n % tools.length]}/test`,
      token: key,
      json: { arguments: {} },
    });
    run.tally(`calls ${status}`);
    return true;
  });
});
