// Sixty permitted visitors, each from an address of their own, write a message a second to the
// keyword agent: the health check's p95 was 1.9 s.
import { setTimeout as sleep } from 'node:timers/promises';
import { strangerAddress } from '../addresses.ts';
import { attack, inParallel, openChat, write, type Target } from './attack.ts';

interface Args extends Target {
  readonly workspace: string;
  readonly visitors: number;
  readonly text: string;
}

const EVERY_MS = 1000;

await attack<Args>(async ({ url, workspace, visitors, text }, run) => {
  const all = await Promise.all(
    Array.from({ length: visitors }, (_, n) =>
      openChat(url, workspace, strangerAddress(n), run.tally),
    ),
  );
  run.begun();
  await inParallel(visitors, run, async (n) => {
    const visitor = all[n]!;
    if (visitor === null) return false;
    await write(url, visitor, text, run.tally);
    await sleep(EVERY_MS);
    return true;
  });
});
