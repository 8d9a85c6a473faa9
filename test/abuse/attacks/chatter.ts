// Sixty permitted visitors, each from an address of their own, write a message a second to the
// keyword agent: the health check's p95 was 1.9 s.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { attack, inParallel, openChat, send, stranger, type Target } from './attack.ts';

interface Args extends Target {
  readonly workspace: string;
  readonly visitors: number;
  readonly text: string;
}

const EVERY_MS = 1000;

await attack<Args>(async ({ url, workspace, visitors, text }, run) => {
  const tokens = await Promise.all(
    Array.from({ length: visitors }, (_, n) => openChat(url, workspace, stranger(n), run.tally)),
  );
  run.begun();
  await inParallel(visitors, run, async (visitor) => {
    const token = tokens[visitor];
    if (token === null) return false;
    const { status } = await send(url, {
      path: '/api/chat/messages',
      from: stranger(visitor),
      token: token!,
      json: { text, client_message_id: randomUUID() },
    });
    run.tally(`messages ${status}`);
    await sleep(EVERY_MS);
    return true;
  });
});
