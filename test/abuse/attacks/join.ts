// Joins by invitations that do not exist. Each cost an Argon2id before anybody looked for the
// invitation, on the threads that the journal writes with: with 100 connections a chat message took
// 2.7 s, with 400 the store refused writes.
import { randomBytes } from 'node:crypto';
import { attack, inParallel, send, stranger, type Target } from './attack.ts';

await attack<Target & { connections: number; addresses: number }>(
  async ({ url, connections, addresses }, run) => {
    run.begun();
    await inParallel(connections, run, async (worker) => {
      const form = {
        token: randomBytes(32).toString('base64url'),
        name: 'Eve',
        email: `eve${worker}@example.com`,
        password: 'a long enough password',
      };
      const { status } = await send(url, {
        path: '/join',
        from: stranger(worker % addresses),
        form,
      });
      run.tally(`joins ${status}`);
    });
  },
);
