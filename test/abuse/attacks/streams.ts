// Chat streams that are opened and kept: 625 sessions with 8 each took all 5,000, and a visitor of
// another workspace got 503.
import { Agent, request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { strangerAddress } from '../addresses.ts';
import { attack, openChat, repeat, type Target, type Visitor } from './attack.ts';

interface Args extends Target {
  readonly workspace: string;
  readonly addresses: number;
  readonly sessions: number;
  readonly streamsEach: number;
}

const CONNECTIONS = 50;

await attack<Args>(async ({ url, workspace, addresses, sessions, streamsEach }, run) => {
  const agent = new Agent({ maxSockets: Infinity });
  await repeat(sessions, CONNECTIONS, run, async (n) => {
    const visitor = await openChat(url, workspace, strangerAddress(n % addresses), run.tally);
    if (visitor === null) return;
    for (let stream = 0; stream < streamsEach && !run.isOver(); stream += 1)
      await openStream(visitor);
  });
  run.begun();
  if (!run.isOver()) await once(run.over, 'abort');

  async function openStream({ from, token }: Visitor): Promise<void> {
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
