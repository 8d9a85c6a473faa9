// Visitors of one workspace, each from an address of their own, ask for its slow tools. Calls of
// eight such tools filled the 128 places for calls under way: another tenant's call took 117 s
// instead of 24 ms.
import { once } from 'node:events';
import { strangerAddress } from '../addresses.ts';
import { attack, openChat, repeat, write, type Target } from './attack.ts';

interface Args extends Target {
  readonly workspace: string;
  readonly visitors: number;
  /** What the visitors write, in turn. */
  readonly texts: readonly string[];
}

const CONNECTIONS = 20;

await attack<Args>(async ({ url, workspace, visitors, texts }, run) => {
  run.begun();
  await repeat(visitors, CONNECTIONS, run, async (n) => {
    const visitor = await openChat(url, workspace, strangerAddress(n), run.tally);
    if (visitor !== null) await write(url, visitor, texts[n % texts.length]!, run.tally);
  });
  if (!run.isOver()) await once(run.over, 'abort');
});
