// Countless chats, with long messages in each. One address had 60 sessions a minute with 60
// messages a minute each: after 126,000 messages of 4 kB in 8.5 minutes, the service ran out of its
// heap of 600 MB, and again at its next start with that heap.
import { randomUUID } from 'node:crypto';
import { strangerAddress } from '../addresses.ts';
import { attack, inParallel, openChat, write, type Target, type Visitor } from './attack.ts';

interface Args extends Target {
  readonly workspace: string;
  readonly addresses: number;
  readonly sessionsEach: number;
  readonly messages: number;
  readonly connections: number;
}

/** With a UUID after it, a message has 4,000 characters. */
const TEXT = 'x'.repeat(4000 - 36);
/** After so many refusals in a row, the attack gives up. */
const MAX_REFUSALS = 300;

await attack<Args>(
  async ({ url, workspace, addresses, sessionsEach, messages, connections }, run) => {
    const visitors: Visitor[] = [];
    let [opened, written, refused] = [0, 0, 0];
    run.begun();
    await inParallel(connections, run, async () => {
      // First all visitors arrive, then they write in turn.
      if (opened < addresses * sessionsEach) {
        const from = strangerAddress(opened++ % addresses);
        const visitor = await openChat(url, workspace, from, run.tally);
        if (visitor !== null) visitors.push(visitor);
        return true;
      }
      if (visitors.length === 0 || written >= messages || refused >= MAX_REFUSALS) return false;
      const visitor = visitors[written++ % visitors.length]!;
      const status = await write(url, visitor, TEXT + randomUUID(), run.tally);
      refused = status === 202 ? 0 : refused + 1;
      return true;
    });
  },
);
