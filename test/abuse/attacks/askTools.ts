// Visitors of one workspace, each from an address of their own, who ask for its slow tools. Eight
// of those filled the 128 places for calls under way: another tenant's call took 117 s instead of
// 24 ms.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { attack, inParallel, openChat, send, stranger, type Target } from './attack.ts';

interface Args extends Target {
  readonly workspace: string;
  readonly visitors: number;
  /** What they write, by turns. */
  readonly texts: readonly string[];
}

const CONNECTIONS = 20;

await attack<Args>(async ({ url, workspace, visitors, texts }, run) => {
  let next = 0;
  run.begun();
  await inParallel(CONNECTIONS, run, async () => {
    const n = next++;
    if (n >= visitors) return false;
    const token = await openChat(url, workspace, stranger(n), run.tally);
    if (token === null) return true;
    const { status } = await send(url, {
      path: '/api/chat/messages',
      from: stranger(n),
      token,
      json: { text: texts[n % texts.length], client_message_id: randomUUID() },
    });
    run.tally(`messages ${status}`);
    return true;
  });
  if (!run.isOver()) await once(run.over, 'abort');
});
